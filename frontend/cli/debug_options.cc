#include "frontend/cli/debug_options.h"

#include "frontend/cli/common.h"

namespace trnemu::cli {

void AddDebugOptions(CLI::App& run, RunArgs& args) {
  const char* const group = "Looking for mistakes (docs/debugging.md)";
  run.add_option("--explore", args.explore,
                 "Run N more times, in random legal orders; exit 1 at the "
                 "first whose outputs differ, with the seed that replays it, "
                 "or if there is a race that none of them shows")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group(group);
  run.add_flag("--stop-at-nan", args.stop_at_nan,
               "Stop at the first NaN or infinity that comes of finite inputs")
      ->group(group);
  run.add_option("--break", args.breaks,
                 "Show the state before instruction N, each OPERATION, or what "
                 "FILE:LINE built; repeatable")
      ->type_name("N|OPERATION|FILE:LINE")
      ->take_all()
      ->group(group);
  run.add_option("--dump", args.dumps,
                 "With --break: show this tile or tensor too, t or t[0:4, 8]")
      ->type_name("TENSOR[SLICE]")
      ->take_all()
      ->group(group);
  run.add_option("--watch", args.watches,
                 "Show each write to these bytes: sbuf:3:4096+4 (partition, "
                 "byte, how many) or t[0:4, 8]; repeatable")
      ->type_name("PLACE")
      ->take_all()
      ->group(group);
  run.add_flag("--stop", args.stop,
               "End the run at the first --break or --watch instead")
      ->group(group);
}

bool WantsDebugger(const RunArgs& args) {
  return !args.breaks.empty() || !args.watches.empty();
}

absl::Status CheckDebugOptions(const RunArgs& args) {
  if (!args.dumps.empty() && args.breaks.empty()) {
    return UsageError("--dump shows tiles at a --break, but there is none",
                      "add --break N");
  }
  if (args.stop && !WantsDebugger(args)) {
    return UsageError(
        "--stop ends the run at a --break or --watch, but there "
        "is neither");
  }
  if (args.values == "off" && (WantsDebugger(args) || args.stop_at_nan)) {
    return UsageError(
        "--break, --watch and --stop-at-nan look at values, but "
        "--values is off");
  }
  if (args.envelope && (args.explore || WantsDebugger(args))) {
    return UsageError(
        "--envelope repeats the run under other roundings; --explore, --break "
        "and --watch are of one choice of them",
        "use them in a run of their own");
  }
  if (!args.explore) return absl::OkStatus();
  if (!args.schedule.empty()) {
    return UsageError("--explore chooses the schedules; leave --schedule out");
  }
  if (WantsDebugger(args) || !args.log.empty()) {
    return UsageError(
        "--break, --watch and --log are of one run, --explore "
        "makes many",
        "find the seed with --explore, then use it with "
        "--schedule SEED");
  }
  if (args.values == "off" || args.checks == "off") {
    return UsageError("--explore needs --values on and --checks full or memory",
                      "without checks a run could read what the run before it "
                      "left in the same bytes");
  }
  return absl::OkStatus();
}

}  // namespace trnemu::cli
