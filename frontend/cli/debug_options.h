// The options of `run` for looking on.
#ifndef TRNEMU_FRONTEND_CLI_DEBUG_OPTIONS_H_
#define TRNEMU_FRONTEND_CLI_DEBUG_OPTIONS_H_

#include "frontend/cli/run_options.h"

namespace trnemu::cli {

void AddDebugOptions(CLI::App& run, RunArgs& args);
// Combinations that have no meaning. A usage error (exit 2).
absl::Status CheckDebugOptions(const RunArgs& args);
// Whether the run is one of the debugger's.
bool WantsDebugger(const RunArgs& args);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_DEBUG_OPTIONS_H_
