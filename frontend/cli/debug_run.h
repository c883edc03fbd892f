// `run` with --explore, --break and --watch.
#ifndef TRNEMU_FRONTEND_CLI_DEBUG_RUN_H_
#define TRNEMU_FRONTEND_CLI_DEBUG_RUN_H_

#include "absl/status/statusor.h"
#include "core/device.h"
#include "frontend/cli/common.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/run_options.h"

namespace trnemu::cli {

// The result in the reference order, once all schedules agree with it.
absl::StatusOr<RunResult> RunExplore(const RunArgs& args,
                                     Executable& executable,
                                     const Inputs& inputs,
                                     const RunOptions& options,
                                     Progress& progress);

// Prints what breaks and watches find as it happens; with --json collects it in
// `events` instead. debug.stopped where --stop ends the run.
absl::StatusOr<RunResult> RunDebugged(const RunArgs& args,
                                      Executable& executable,
                                      const Inputs& inputs,
                                      const RunOptions& options,
                                      Progress& progress, Json& events);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_DEBUG_RUN_H_
