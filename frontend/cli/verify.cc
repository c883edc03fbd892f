// trnemu verify: rules and capacity, nothing is executed.
#include "isa/verify.h"

#include <algorithm>

#include "frontend/cli/common.h"
#include "frontend/cli/memory_map.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/system_options.h"
#include "frontend/cli/verbs.h"
#include "isa/container.h"

namespace trnemu::cli {
namespace {

struct VerifyArgs {
  std::string program, target, hardware, map;
  std::vector<std::string> layers;
  bool json = false;
  SystemOptions system;  // without a name: none
};

// What a program cannot be on the ranks of a system.
void CheckOnSystem(const Program& program, const Topology& topology,
                   std::vector<Diagnostic>& findings) {
  const auto add = [&](Category category, const char* id,
                       const std::string& message) {
    Diagnostic d;
    d.category = category;
    d.id = id;
    d.message = message;
    findings.push_back(std::move(d));
  };
  const SystemDescription& system = topology.system();
  if (program.target != system.target) {
    add(Category::kInput, "option.target",
        Cat("the program is for ", Name(program.target), ", but ", system.name,
            " has ", Name(system.target)));
  }
  if (static_cast<int>(program.cores.size()) > topology.lnc()) {
    add(Category::kInput, "option.lnc",
        Cat("the program has ", program.cores.size(), " cores, but a rank has ",
            topology.lnc(), " (lnc)"));
  }
  for (const ReplicaGroups& groups : program.replica_groups) {
    uint32_t most = 0;
    for (const auto& group : groups) {
      for (const uint32_t rank : group) most = std::max(most, rank);
    }
    if (most < static_cast<uint32_t>(topology.ranks())) continue;
    add(Category::kIllegal, "collective.rank",
        Cat("a replica group names rank ", most, ", but the system has ranks ",
            "0 to ", topology.ranks() - 1));
  }
}

absl::StatusOr<unsigned> ParseLayers(const std::vector<std::string>& names) {
  if (names.empty()) return kDefaultLayers;
  unsigned layers = 0;
  for (const std::string& name : names) {
    const auto layer = FromName<Layer>(kLayerNames, name);
    if (!layer) {
      return UsageError(Cat("--layers: \"", name,
                            "\" is not one of device, "
                            "backend, api and lint"));
    }
    layers |= 1u << static_cast<unsigned>(*layer);
  }
  return layers;
}

void PrintJsonReport(const VerifyArgs& args, const Hardware& hardware,
                     unsigned layers, std::span<const Diagnostic> findings,
                     int64_t errors, Json memory_map) {
  Json json = Envelope("verify");
  json["ok"] = errors == 0;
  json["exit_code"] = errors == 0 ? kSuccess : kFault;
  json["program"] = args.program;
  json["target"] = hardware.name;
  json["layers"] = Json::array();
  for (size_t i = 0; i < kLayerNames.size(); ++i) {
    if (layers >> i & 1) json["layers"].push_back(std::string(kLayerNames[i]));
  }
  json["errors"] = errors;
  json["warnings"] = static_cast<int64_t>(findings.size()) - errors;
  json["findings"] = ToJsonArray(findings);
  if (!memory_map.is_null()) json["memory_map"] = std::move(memory_map);
  PrintJson(json);
}

int Verify(const VerifyArgs& args) {
  Progress progress(Cat("verifying ", args.program));
  const auto fail = [&](const absl::Status& status) {
    progress.Stop();
    return Fail("verify", args.json, status);
  };
  VerifyOptions options;
  const auto layers = ParseLayers(args.layers);
  if (!layers.ok()) return fail(layers.status());
  options.layers = *layers;
  const absl::StatusOr<Program> program = ReadProgram(args.program);
  if (!program.ok()) return fail(program.status());
  Target target = program->target;
  if (!args.target.empty()) {
    const auto given = ParseTarget(args.target);
    if (!given.ok()) return fail(given.status());
    target = *given;
  }
  const auto hardware = HardwareOf(target, args.hardware);
  if (!hardware.ok()) return fail(hardware.status());

  std::vector<Diagnostic> findings =
      VerifyProgram(*program, **hardware, options);
  if (!args.system.name.empty()) {
    const auto topology = TopologyOf(args.system);
    if (!topology.ok()) return fail(topology.status());
    CheckOnSystem(*program, **topology, findings);
  }
  const int64_t errors = std::count_if(
      findings.begin(), findings.end(),
      [](const auto& d) { return d.severity == Severity::kError; });
  Json json_map;
  std::string text_map;
  if (!args.map.empty()) {
    const MemoryMap map = MakeMemoryMap(*program, **hardware);
    const absl::Status written = WriteMemoryMap(args.map, map, *program);
    if (!written.ok()) return fail(written);
    json_map = MemoryMapJson(args.map, map, *program);
    if (args.map == "-") text_map = MemoryMapText(map, *program) + "\n";
  }
  progress.Stop();
  if (args.json) {
    PrintJsonReport(args, **hardware, options.layers, findings, errors,
                    std::move(json_map));
    return errors == 0 ? kSuccess : kFault;
  }
  Print(text_map);
  for (const Diagnostic& d : findings) Print(Render(d) + "\n");
  const std::string what =
      Cat(args.program, " on ", (*hardware)->name, " (",
          Count(program->num_instructions(), "instruction"), ")");
  if (findings.empty()) {
    Print(Cat("No findings: ", what,
              " breaks no rule and fits.\n"
              "Synchronisation is not checked here: trnemu run finds races in "
              "any order.\n"));
  } else {
    Print(Cat(Count(errors, "error"), ", ",
              Count(static_cast<int64_t>(findings.size()) - errors, "warning"),
              ": ", what, ".\n"));
  }
  return errors == 0 ? kSuccess : kFault;
}

}  // namespace

void AddVerify(CLI::App& app, Action& action) {
  CLI::App* verify = app.add_subcommand(
      "verify", "List what a program breaks, without executing it");
  auto args = std::make_shared<VerifyArgs>();
  verify->add_option("PROGRAM", args->program, "Program file (.trn)")
      ->required();
  verify
      ->add_option("--target", args->target,
                   "trn1, trn2 or trn3 (default: the program's)")
      ->type_name("TARGET");
  verify
      ->add_option("--hardware", args->hardware,
                   "Hardware description that replaces the built-in one")
      ->type_name("FILE");
  verify
      ->add_option("--layers", args->layers,
                   "Rules of device, backend, api, lint (default: "
                   "device,backend)")
      ->type_name("LAYER,")
      ->delimiter(',')
      ->take_all();
  verify
      ->add_option("--memory-map", args->map,
                   "Draw which tiles are live where in SBUF and PSUM: to an "
                   "SVG file, or - for the terminal")
      ->type_name("FILE");
  AddTopologyOptions(*verify, args->system);
  verify->add_flag("--json", args->json, "Print one JSON object");
  verify->footer(
      "Lists every finding: rules, capacity, and modes that this version of\n"
      "trnemu does not execute. Exit code 1 if one of them is an error.\n"
      "\n"
      "Examples:\n"
      "  trnemu verify k.trn\n"
      "  trnemu verify k.trn --target trn1     would it run on trn1?\n"
      "  trnemu verify k.trn --layers device,backend,api,lint --json\n"
      "  trnemu verify k.trn --memory-map k.svg   what is live where\n"
      "  trnemu verify k.trn --memory-map -       the same, here\n"
      "  trnemu verify k.trn --system trn2.48xlarge --ranks 16    on its "
      "ranks?\n"
      "  trnemu explain tensor_copy.shape      more about one finding");
  verify->callback(
      [args, &action] { action = [args] { return Verify(*args); }; });
}

}  // namespace trnemu::cli
