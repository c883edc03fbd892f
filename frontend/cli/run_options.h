// The options of `run` as given, and as the core takes them.
#ifndef TRNEMU_FRONTEND_CLI_RUN_OPTIONS_H_
#define TRNEMU_FRONTEND_CLI_RUN_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/device.h"
#include "core/run.h"
#include "frontend/cli/outputs.h"
#include "frontend/cli/system_options.h"
#include "isa/program.h"

namespace trnemu::cli {

struct RunArgs {
  std::string program;                // the first
  std::vector<std::string> programs;  // with a system one, or one a rank
  SystemOptions system;               // without a name: one rank alone
  std::vector<std::string> inputs, expects;
  std::string output_dir, target, hardware, log, trace;
  double rtol = 1e-5, atol = 1e-8;
  std::string checks = "full", time = "on", values = "on", schedule;
  std::string throttle = "on";
  bool launch_overhead = false;
  std::vector<std::string> allow, numerics;
  bool strict = false, json = false, stop_at_nan = false, stop = false;
  std::vector<std::string> breaks, dumps, watches;
  std::optional<int64_t> explore;
  uint64_t seed = 0;
  std::optional<int64_t> max_instructions;
  std::optional<double> max_time_ns, max_wall_s;
  std::optional<int64_t> max_host_memory;
  std::optional<int64_t> envelope;
  uint64_t envelope_seed = 0;
  std::string wait_graph;
};

// The program, its inputs, a system to run it on, and what every simulation of it can be given.
void AddSimulationOptions(CLI::App& run, RunArgs& args);
// All options of `run`.
void AddRunOptions(CLI::App& run, RunArgs& args);

// A number from 0 on, without CLI11's range, of which one end has 309 digits.
const CLI::Validator& NonNegative();

// The files that are read, with the option that names each.
std::vector<NamedPath> FilesRead(const RunArgs& args);

// Checks what CLI11 cannot: combinations, ids, keys. A usage error (exit 2).
absl::StatusOr<RunOptions> MakeRunOptions(const RunArgs& args);

// The device for a program: --target and --hardware, and as many cores as the
// program has, two at most; a program of more is told so by Load. A usage
// error, or `limit` where the host has not the memory for it.
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(const Program& program,
                                                   const RunArgs& args,
                                                   const RunOptions& options);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_RUN_OPTIONS_H_
