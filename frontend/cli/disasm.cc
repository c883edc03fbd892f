// trnemu disasm: a program file to the text form.
#include <cstdio>

#include "frontend/cli/common.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/verbs.h"
#include "isa/container.h"
#include "isa/file.h"
#include "isa/text.h"

namespace trnemu::cli {
namespace {

struct DisasmArgs {
  std::string in, out;
  bool json = false;
};

int Disassemble(const DisasmArgs& args) {
  Progress progress(Cat("disassembling ", args.in));
  const auto fail = [&](const absl::Status& status) {
    progress.Stop();
    return Fail("disasm", args.json, status);
  };
  const absl::StatusOr<Program> program = ReadProgram(args.in);
  if (!program.ok()) return fail(program.status());
  const std::string text = ToText(*program);
  if (!args.out.empty()) {
    const std::string_view parts[] = {text};
    const absl::Status written = WriteFileAtomically(args.out, parts);
    if (!written.ok()) return fail(written);
  }
  progress.Stop();
  if (args.json) {
    Json json = Envelope("disasm");
    json["ok"] = true;
    json["exit_code"] = kSuccess;
    json["target"] = std::string(Name(program->target));
    json["instructions"] = program->num_instructions();
    json["file"] = args.out.empty() ? Json(nullptr) : Json(args.out);
    if (args.out.empty()) json["text"] = text;
    PrintJson(json);
  } else if (args.out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);  // quoted already
  }
  return kSuccess;
}

}  // namespace

void AddDisasm(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("disasm", "Print a program file as text");
  auto args = std::make_shared<DisasmArgs>();
  sub->add_option("PROGRAM", args->in, "Program file (.trn)")->required();
  sub->add_option("-o,--output", args->out,
                  "File to write (default: standard output)")
      ->type_name("OUT");
  sub->add_flag("--json", args->json, "Print one JSON object");
  sub->footer(
      "Lossless: trnemu asm makes the same program of it again.\n"
      "\n"
      "Examples:\n"
      "  trnemu disasm k.trn | less\n"
      "  trnemu disasm k.trn -o k.txt");
  sub->callback(
      [args, &action] { action = [args] { return Disassemble(*args); }; });
}

}  // namespace trnemu::cli
