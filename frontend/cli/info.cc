// trnemu info: constants, tables, coverage; or one program.
#include "frontend/cli/common.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/reference.h"
#include "frontend/cli/verbs.h"
#include "isa/container.h"

namespace trnemu::cli {
namespace {

struct InfoArgs {
  std::string program, target, hardware, only, markdown;
  bool json = false;
};

int ShowMarkdown(const InfoArgs& args) {
  Print(args.markdown == "operations" ? OperationsMarkdown()
                                      : DiagnosticsMarkdown());
  return kSuccess;
}

int ShowProgram(const InfoArgs& args) {
  Progress progress(Cat("reading ", args.program));
  const absl::StatusOr<Program> program = ReadProgram(args.program);
  progress.Stop();
  if (!program.ok()) return Fail("info", args.json, program.status());
  if (args.json) {
    Json json = Envelope("info");
    json["program"] = ProgramJson(*program, args.program);
    PrintJson(json);
  } else {
    Print(ProgramText(*program, args.program));
  }
  return kSuccess;
}

// A table of the reference by the name that --only takes.
struct Section {
  const char* name;
  std::string (*text)(const Hardware&);
  Json (*json)(const Hardware&);
};
constexpr Section kSections[] = {
    {"constants", ConstantsText, ConstantsJson},
    {"operations", [](const Hardware&) { return OperationsText(); },
     [](const Hardware&) { return OperationsJson(); }},
    {"opcodes", OpcodesText, OpcodesJson},
    {"numerics", [](const Hardware&) { return NumericsText(); },
     [](const Hardware&) { return NumericsJson(); }},
};

int Info(const InfoArgs& args) {
  if (!args.markdown.empty()) return ShowMarkdown(args);
  if (!args.program.empty()) return ShowProgram(args);
  const auto target = ParseTarget(
      args.target.empty() ? std::string(Name(kDefaultTarget)) : args.target);
  if (!target.ok()) return Fail("info", args.json, target.status());
  const auto hardware = HardwareOf(*target, args.hardware);
  if (!hardware.ok()) return Fail("info", args.json, hardware.status());
  Json json = Envelope("info");
  json["target"] = (*hardware)->name;
  std::string text;
  for (const Section& section : kSections) {
    if (!args.only.empty() && args.only != section.name) continue;
    if (args.json) {
      json[section.name] = section.json(**hardware);
    } else {
      text += Cat(text.empty() ? "" : "\n", section.text(**hardware));
    }
  }
  if (args.only.empty() || args.only == "operations") {
    json["coverage"] = CoverageJson();
  }
  args.json ? PrintJson(json) : Print(text);
  return kSuccess;
}

}  // namespace

void AddInfo(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "info", "Constants with sources, the instruction table, a program");
  auto args = std::make_shared<InfoArgs>();
  sub->add_option("PROGRAM", args->program,
                  "Program file to describe, instead of the tables");
  sub->add_option("--target", args->target, "trn1, trn2 (default) or trn3")
      ->type_name("TARGET");
  sub->add_option("--hardware", args->hardware,
                  "Hardware description that replaces the built-in one")
      ->type_name("FILE");
  sub->add_option("--only", args->only,
                  "One table: constants, operations, opcodes or numerics")
      ->type_name("TABLE")
      ->check(
          CLI::IsMember({"constants", "operations", "opcodes", "numerics"}));
  sub->add_flag("--json", args->json, "Print one JSON object");
  // For scripts/gen_docs.
  sub->add_option("--markdown", args->markdown)
      ->check(CLI::IsMember({"diagnostics", "operations"}))
      ->group("");
  sub->footer(
      "Examples:\n"
      "  trnemu info --target trn1 --only constants\n"
      "  trnemu info --only operations       what is there, what is missing\n"
      "  trnemu info --only numerics         keys of run --numerics\n"
      "  trnemu info k.trn                   tensors and instruction counts");
  sub->callback([args, &action] { action = [args] { return Info(*args); }; });
}

}  // namespace trnemu::cli
