// trnemu asm: the text form to a program file.
#include "frontend/cli/common.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/verbs.h"
#include "isa/container.h"
#include "isa/text.h"

namespace trnemu::cli {
namespace {

struct AsmArgs {
  std::string in, out;
  bool json = false;
};

int Assemble(const AsmArgs& args) {
  Progress progress(Cat("assembling ", args.in));
  const auto fail = [&](const absl::Status& status) {
    progress.Stop();
    return Fail("asm", args.json, status);
  };
  const absl::StatusOr<std::string> text = ReadText(args.in);
  if (!text.ok()) return fail(text.status());
  const absl::StatusOr<Program> program = FromText(*text);
  if (!program.ok()) {
    Diagnostic d = DiagnosticOf(program.status());
    d.message = Cat(args.in, ": ", d.message);
    return fail(ToStatus(std::move(d)));
  }
  const absl::Status written = WriteProgram(*program, args.out);
  if (!written.ok()) return fail(written);
  progress.Stop();
  if (!args.json) return kSuccess;
  Json json = Envelope("asm");
  json["ok"] = true;
  json["exit_code"] = kSuccess;
  json["file"] = args.out;
  json["target"] = std::string(Name(program->target));
  json["instructions"] = program->num_instructions();
  PrintJson(json);
  return kSuccess;
}

}  // namespace

void AddAsm(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("asm", "Make a program file of the text form");
  auto args = std::make_shared<AsmArgs>();
  sub->add_option("IN", args->in, "Text form (.txt)")->required();
  sub->add_option("-o,--output", args->out, "Program file to write (.trn)")
      ->type_name("OUT")
      ->required();
  sub->add_flag("--json", args->json, "Print one JSON object");
  sub->footer(
      "Lossless: trnemu disasm gives the same text again.\n"
      "\n"
      "Examples:\n"
      "  trnemu asm k.txt -o k.trn\n"
      "  trnemu disasm k.trn -o k.txt && trnemu asm k.txt -o again.trn");
  sub->callback(
      [args, &action] { action = [args] { return Assemble(*args); }; });
}

}  // namespace trnemu::cli
