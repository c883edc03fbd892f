// trnemu info: constants, tables, coverage; or one program.
#include "frontend/cli/common.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/reference.h"
#include "frontend/cli/system.h"
#include "frontend/cli/verbs.h"
#include "isa/container.h"

namespace trnemu::cli {
namespace {

struct InfoArgs {
  std::string program, target, hardware, only, markdown;
  SystemArgs system;
  bool systems = false;
  bool json = false;
};

int ShowSystemOf(const InfoArgs& args) {
  if (!args.only.empty() && args.only != "constants" &&
      args.only != "description") {
    return Fail("info", args.json,
                UsageError(Cat("a system has no table ", args.only),
                           "--only constants or --only description"));
  }
  SystemArgs system = args.system;
  system.only = args.only;
  system.json = args.json;
  return ShowSystem(system);
}

int ShowMarkdown(const InfoArgs& args) {
  if (args.markdown == "diagnostics" || args.markdown == "operations") {
    Print(args.markdown == "operations" ? OperationsMarkdown()
                                        : DiagnosticsMarkdown());
    return kSuccess;
  }
  const OperationInfo* operation = FindOperation(args.markdown);
  if (operation == nullptr) {
    return Fail("info", false,
                UsageError(Cat("no page ", args.markdown),
                           "diagnostics, operations or an operation"));
  }
  Print(OperationPage(*operation, Style::kMarkdown));
  return kSuccess;
}

int ShowOperation(const OperationInfo& operation, bool json) {
  if (!json) {
    Print(OperationPage(operation, Style::kText));
    return kSuccess;
  }
  Json report = Envelope("info");
  report["operation"] = OperationJson(operation);
  PrintJson(report);
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

// --only description: what --hardware takes, as it was built in.
int ShowDescription(const Hardware& hardware, const InfoArgs& args) {
  std::string description;
  for (const auto& [stem, text] : EmbeddedHardwareFiles()) {
    if (stem == hardware.name) description = std::string(text);
  }
  if (!args.hardware.empty()) {
    const absl::StatusOr<std::string> text = ReadText(args.hardware);
    if (!text.ok()) return Fail("info", args.json, text.status());
    description = *text;
  }
  if (!args.json) {
    Print(description);
    return kSuccess;
  }
  Json report = Envelope("info");
  report["target"] = hardware.name;
  report["description"] = description;
  PrintJson(report);
  return kSuccess;
}

// --only coverage: a page that scripts/gen_docs made, too long for the rest.
int ShowCoverage(bool json) {
  if (!json) {
    Print(CoverageText());
    return kSuccess;
  }
  Json report = Envelope("info");
  report["coverage"] = CoverageJson();
  report["page"] = CoverageText();
  PrintJson(report);
  return kSuccess;
}

// Options that the page asked for does not take.
absl::Status CheckOptions(const InfoArgs& args) {
  const bool subject = !args.program.empty();
  const auto unused = [&](const char* option, const std::string& value) {
    return value.empty()
               ? absl::OkStatus()
               : UsageError(Cat(option, " has no meaning for ",
                                subject ? args.program : "--only coverage"));
  };
  if (!subject && args.only != "coverage") return absl::OkStatus();
  absl::Status status = unused("--target", args.target);
  if (status.ok()) status = unused("--hardware", args.hardware);
  if (status.ok() && subject) status = unused("--only", args.only);
  return status;
}

int Info(const InfoArgs& args) {
  const absl::Status options = CheckOptions(args);
  if (!options.ok()) return Fail("info", args.json, options);
  if (!args.markdown.empty()) return ShowMarkdown(args);
  if (args.systems) return ShowSystems(args.json);
  if (!args.system.name.empty()) return ShowSystemOf(args);
  if (args.only == "coverage") return ShowCoverage(args.json);
  if (const OperationInfo* operation = FindOperation(args.program)) {
    return ShowOperation(*operation, args.json);
  }
  if (!args.program.empty()) return ShowProgram(args);
  const auto target = ParseTarget(
      args.target.empty() ? std::string(Name(kDefaultTarget)) : args.target);
  if (!target.ok()) return Fail("info", args.json, target.status());
  const auto hardware = HardwareOf(*target, args.hardware);
  if (!hardware.ok()) return Fail("info", args.json, hardware.status());
  if (args.only == "description") return ShowDescription(**hardware, args);
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
  CLI::Option* program =
      sub->add_option("PROGRAM", args->program,
                      "Program file or operation to describe, instead of the "
                      "tables");
  sub->add_option("--target", args->target, "trn1, trn2 (default) or trn3")
      ->type_name("TARGET");
  sub->add_option("--hardware", args->hardware,
                  "Hardware description that replaces the built-in one")
      ->type_name("FILE");
  sub->add_option("--only", args->only,
                  "One table: constants, operations, opcodes, numerics, "
                  "coverage; or description: the text that --hardware takes")
      ->type_name("TABLE")
      ->check(CLI::IsMember({"constants", "operations", "opcodes", "numerics",
                             "coverage", "description"}));
  CLI::Option* system =
      sub->add_option("--system", args->system.name,
                      "System of chips to draw and describe: a name, NAME*N or "
                      "the file of a description")
          ->type_name("NAME|FILE")
          ->excludes(program);
  const auto of_system = [&](CLI::Option* option) { option->needs(system); };
  of_system(sub->add_option("--ranks", args->system.ranks,
                            "So many ranks of it (default: all)"));
  of_system(sub->add_option("--lnc", args->system.lnc,
                            "Cores of a rank: 1, or 2 (default where the "
                            "cores can)"));
  of_system(sub->add_option("--fail-link", args->system.failed,
                            "Links that have failed: 3-7 between two chips, or "
                            "a link's name")
                ->type_name("LINK"));
  sub->add_flag("--systems", args->systems, "List the systems")
      ->excludes(program)
      ->excludes(system);
  sub->add_flag("--json", args->json, "Print one JSON object");
  // For scripts/gen_docs.
  sub->add_option("--markdown", args->markdown)->group("");
  sub->footer(
      "Examples:\n"
      "  trnemu info --target trn1 --only constants\n"
      "  trnemu info --only operations       what is there, what is missing\n"
      "  trnemu info tensor_scalar           all about one operation\n"
      "  trnemu info --only coverage         dtypes, memories, modes that run\n"
      "  trnemu info --only numerics         keys of run --numerics\n"
      "  trnemu info --target trn2 --only description > my.textproto\n"
      "                                      to edit, for run --hardware\n"
      "  trnemu info k.trn                   tensors and instruction counts\n"
      "  trnemu info --system trn2.48xlarge  its chips and links\n"
      "  trnemu info --system trn2.48xlarge --only description > my.textproto\n"
      "                                      to edit, for --system");
  sub->callback([args, &action] { action = [args] { return Info(*args); }; });
}

}  // namespace trnemu::cli
