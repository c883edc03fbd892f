#include "frontend/cli/run_options.h"

#include <charconv>
#include <cmath>

#include "core/host_memory.h"
#include "core/numerics/options.h"
#include "frontend/cli/common.h"
#include "frontend/cli/debug_options.h"
#include "frontend/cli/reference.h"
#include "isa/diagnostic_catalog.h"

namespace trnemu::cli {
namespace {

absl::Status SetSchedule(const RunArgs& args, RunOptions& options) {
  options.order = options.time ? Order::kTimed : Order::kProgram;
  if (args.schedule.empty()) return absl::OkStatus();
  if (args.schedule == "timed") {
    if (options.time) return absl::OkStatus();
    return UsageError(
        "--schedule timed needs simulated time, but --time is off",
        "leave one of them out, or choose --schedule program or a seed");
  }
  if (args.schedule == "program") {
    options.order = Order::kProgram;
    return absl::OkStatus();
  }
  options.order = Order::kRandom;
  const char* const end = args.schedule.data() + args.schedule.size();
  const auto [at, error] =
      std::from_chars(args.schedule.data(), end, options.schedule_seed);
  if (error == std::errc() && at == end) return absl::OkStatus();
  return UsageError(
      Cat("--schedule must be timed, program or a seed (a whole "
          "number), not \"",
          args.schedule, "\""));
}

absl::Status SetNumerics(const RunArgs& args, RunOptions& options) {
  for (const std::string& text : args.numerics) {
    const size_t equals = text.find('=');
    if (equals == text.npos) {
      return UsageError(
          Cat("--numerics takes KEY=VALUE, but was given \"", text, "\""),
          "trnemu info --only numerics lists the keys and their values");
    }
    const std::string problem = SetNumericsOption(
        options.numerics, text.substr(0, equals), text.substr(equals + 1));
    if (!problem.empty()) return UsageError(Cat("--numerics: ", problem));
  }
  return absl::OkStatus();
}

absl::Status SetAllow(const RunArgs& args, RunOptions& options) {
  const std::vector<std::string_view> ids = DiagnosticIds();
  for (const std::string& id : args.allow) {
    const auto description = Describe(id);
    if (!description) {
      return UsageError(
          Cat("--allow: no diagnostic has the id ", id, DidYouMean(id, ids)),
          "trnemu explain lists all ids");
    }
    if (!description->can_be_allowed) {
      return UsageError(Cat("--allow: ", id,
                            " cannot be allowed, because what "
                            "trnemu does next relies on it"),
                        Cat("trnemu explain ", id, " says how to repair it"));
    }
    options.allow.push_back(id);
  }
  return absl::OkStatus();
}

}  // namespace

const CLI::Validator& NonNegative() {
  static const auto* const check = new CLI::Validator(
      [](std::string& text) {
        double value = -1;
        if (CLI::detail::lexical_cast(text, value) && value >= 0 &&
            std::isfinite(value)) {
          return std::string();
        }
        return Cat("a number that is not negative is expected, not \"", text,
                   "\"");
      },
      "NONNEGATIVE");
  return *check;
}

namespace {

const CLI::Validator& WholeNumber() {
  static const auto* const check = new CLI::Validator(
      [](std::string& text) {
        int64_t value = -1;
        const char* const end = text.data() + text.size();
        const auto [at, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && at == end && value >= 0) {
          return std::string();
        }
        return Cat("a whole number from 0 to 2^63 - 1 is expected, not \"",
                   text, "\"");
      },
      "NONNEGATIVE");
  return *check;
}

}  // namespace

void AddSimulationOptions(CLI::App& run, RunArgs& args) {
  const CLI::IsMember on_off({"on", "off"});
  run.add_option("PROGRAM", args.programs,
                 "Program file (.trn); with --system one for all ranks, or one "
                 "for each")
      ->required()
      ->type_name("FILE")
      ->each([&args](const std::string& file) {
        if (args.program.empty()) args.program = file;
      });
  run.add_option("--input", args.inputs,
                 "NAME=FILE.npy for each input tensor; with --system "
                 "3:NAME=FILE is rank 3's alone, and {rank} in FILE its number")
      ->type_name("NAME=FILE")
      ->take_all();
  run.add_option("--target", args.target,
                 "trn1, trn2 or trn3 (default: the program's)")
      ->type_name("TARGET");
  run.add_option("--hardware", args.hardware,
                 "Hardware description that replaces the built-in one, for "
                 "what-if questions")
      ->type_name("FILE");
  run.add_option("--checks", args.checks,
                 "full, memory (unwritten bytes only) or off (rules and "
                 "bounds only)")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "memory", "off"}));
  run.add_option("--throttle", args.throttle,
                 "on, or off: the tensor engine at full rate even after it "
                 "has idled")
      ->capture_default_str()
      ->check(on_off);
  run.add_flag("--launch-overhead", args.launch_overhead,
               "Start after the fixed device time of a kernel launch (9.4 us "
               "on trn2)");
  run.add_option("--values", args.values,
                 "on, or off: time alone, no outputs, no inputs needed")
      ->capture_default_str()
      ->check(on_off);
  run.add_option("--allow", args.allow,
                 "Let these diagnostics pass; the summary says which did")
      ->type_name("ID,")
      ->delimiter(',')
      ->take_all();
  run.add_flag("--strict", args.strict, "Warnings are errors");
  run.add_option("--numerics", args.numerics,
                 "Rules the documents leave open; see trnemu info --only "
                 "numerics")
      ->type_name("KEY=VALUE,")
      ->delimiter(',')
      ->take_all();
  run.add_option("--seed", args.seed, "Seed of the device's random generators")
      ->capture_default_str();
  run.add_option("--max-instructions", args.max_instructions,
                 "Stop with a fault after N instructions (default: "
                 "1000000000 if the program has loops)")
      ->type_name("N")
      ->check(WholeNumber());
  run.add_option("--max-time-ns", args.max_time_ns,
                 "Stop with a fault after N simulated nanoseconds")
      ->type_name("N")
      ->check(NonNegative());
  run.add_option("--max-wall-time", args.max_wall_s,
                 "Stop with a fault after SECONDS on this host's clock")
      ->type_name("SECONDS")
      ->check(NonNegative());
  run.add_option("--max-host-memory", args.max_host_memory,
                 "Refuse to start if the run may need more than BYTES of this "
                 "host's memory; 512MB, 2GB and the like work too")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false));
  AddTopologyOptions(run, args.system);
  AddClusterOptions(run, args.system,
                    "Of collectives: auto (as documented), or one that is "
                    "forced");
}

void AddRunOptions(CLI::App& run, RunArgs& args) {
  AddSimulationOptions(run, args);
  run.add_option("--output-dir", args.output_dir,
                 "Write every output to DIR/NAME.npy; without it nothing is "
                 "written")
      ->type_name("DIR");
  CLI::Option* const expect =
      run.add_option("--expect", args.expects,
                     "Compare output NAME with FILE.npy; exit 1 if they differ")
          ->type_name("NAME=FILE")
          ->take_all();
  run.add_option("--rtol", args.rtol,
                 "--expect accepts |got - want| <= atol + rtol * |want|")
      ->capture_default_str()
      ->needs(expect)
      ->check(NonNegative());
  run.add_option("--atol", args.atol, "See --rtol")
      ->capture_default_str()
      ->needs(expect)
      ->check(NonNegative());
  run.add_option("--time", args.time, "on, or off: no simulated time, faster")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
  run.add_option("--schedule", args.schedule,
                 "timed (default), program order (default with --time off), "
                 "or a seed that picks a legal interleaving")
      ->type_name("timed|program|SEED");
  run.add_option("--envelope", args.envelope,
                 "Repeat the program under each open rounding choice and under "
                 "N random combinations, and say how far each output moves and "
                 "why")
      ->type_name("N")
      ->check(CLI::Range(0, 100000));
  run.add_option("--envelope-seed", args.envelope_seed,
                 "Which combinations --envelope draws")
      ->capture_default_str();
  run.add_option("--wait-graph", args.wait_graph,
                 "If the run deadlocks, write who waits for whom as Graphviz")
      ->type_name("FILE.dot");
  run.add_option("--log", args.log,
                 "Write one line per retired instruction and its effects")
      ->type_name("FILE");
  AddDebugOptions(run, args);
  run.add_option("--trace", args.trace,
                 "Write a timeline that ui.perfetto.dev opens; trnemu profile "
                 "has more")
      ->type_name("FILE");
  run.add_flag("--json", args.json,
               "Print one JSON object instead of the summary");
}

absl::StatusOr<RunOptions> MakeRunOptions(const RunArgs& args) {
  RunOptions options;
  if (args.programs.size() > 1 && args.system.name.empty()) {
    return UsageError(
        Cat("there are ", args.programs.size(),
            " programs, but one rank alone; with --system NAME each is a "
            "rank's"));
  }
  options.checks = args.checks == "full"     ? Checks::kFull
                   : args.checks == "memory" ? Checks::kMemory
                                             : Checks::kOff;
  options.time = args.time == "on";
  options.values = args.values == "on";
  options.throttle = args.throttle == "on";
  options.launch_overhead = args.launch_overhead;
  options.strict = args.strict;
  options.stop_at_nan = args.stop_at_nan;
  options.seed = args.seed;
  options.max_instructions = args.max_instructions;
  options.max_time_ns = args.max_time_ns;
  if (!options.values && (!args.output_dir.empty() || !args.expects.empty())) {
    return UsageError(
        "--output-dir and --expect need values, but --values is off");
  }
  if (!options.values && !options.time) {
    return UsageError(
        "--values off simulates time alone, but --time is off: nothing is left "
        "to do");
  }
  options.max_wall_seconds = args.max_wall_s;
  options.max_host_bytes = args.max_host_memory;
  if (!options.values && args.envelope) {
    return UsageError("--envelope needs values, but --values is off");
  }
  if (!options.time && args.max_time_ns) {
    return UsageError("--max-time-ns needs simulated time, but --time is off");
  }
  absl::Status status = CheckDebugOptions(args);
  if (status.ok()) status = SetSchedule(args, options);
  if (status.ok() && !args.trace.empty() &&
      (options.order != Order::kTimed || args.explore || args.envelope)) {
    return UsageError(
        "--trace is of one run in simulated time; leave out --time off, "
        "--schedule, --explore and --envelope");
  }
  if (status.ok() && args.max_time_ns && options.order != Order::kTimed) {
    return UsageError(
        "--max-time-ns needs simulated time, which only --schedule timed has");
  }
  if (status.ok() && options.order != Order::kTimed &&
      (!options.throttle || options.launch_overhead)) {
    return UsageError(Cat(options.launch_overhead ? "--launch-overhead adds to"
                                                  : "--throttle changes",
                          " simulated time, which only --schedule timed has"));
  }
  if (status.ok()) status = SetNumerics(args, options);
  if (status.ok()) status = SetAllow(args, options);
  if (!status.ok()) return status;
  return options;
}

std::vector<NamedPath> FilesRead(const RunArgs& args) {
  std::vector<NamedPath> files = {{"--hardware", args.hardware}};
  for (const std::string& file : args.programs) {
    files.push_back({"PROGRAM", file});
  }
  for (const auto& [option, values] : {std::pair("--input", &args.inputs),
                                       std::pair("--expect", &args.expects)}) {
    for (const std::string& text : *values) {
      const size_t equals = text.find('=');
      if (equals != text.npos)
        files.push_back({option, text.substr(equals + 1)});
    }
  }
  return files;
}

absl::StatusOr<std::unique_ptr<Device>> MakeDevice(const Program& program,
                                                   const RunArgs& args,
                                                   const RunOptions& options) {
  Target target = program.target;
  if (!args.target.empty()) {
    const absl::StatusOr<Target> given = ParseTarget(args.target);
    if (!given.ok()) return given.status();
    target = *given;
  }
  auto hardware = HardwareOf(target, args.hardware);
  if (!hardware.ok()) return hardware.status();
  const int cores = program.cores.size() == 2 ? 2 : 1;
  auto device = Device::Create(target, cores, *std::move(hardware));
  if (!device.ok()) return device;
  // Before constants are copied.
  absl::Status fits = CheckHostMemory(program, (*device)->hardware(), options);
  if (!fits.ok()) return fits;
  return device;
}

}  // namespace trnemu::cli
