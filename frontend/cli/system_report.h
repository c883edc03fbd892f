// What run --system and profile --system say of ranks and collectives.
#ifndef TRNEMU_FRONTEND_CLI_SYSTEM_REPORT_H_
#define TRNEMU_FRONTEND_CLI_SYSTEM_REPORT_H_

#include <string>

#include "frontend/cli/common.h"
#include "frontend/cli/system_run.h"

namespace trnemu::cli {

// Where and how long, a line a rank (alike ones together) and a table of
// collectives, which are not too many; --json has them all.
std::string SystemText(const SystemRun& run);
// Warnings of ranks, each once.
std::string WarningsText(const SystemRun& run);
// "system", "time_ns", "ranks" and "collectives".
void AddSystemJson(const SystemRun& run, Json& json);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_SYSTEM_REPORT_H_
