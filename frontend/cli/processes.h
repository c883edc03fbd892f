// The processes that mpirun has started to share one run.
#ifndef TRNEMU_FRONTEND_CLI_PROCESSES_H_
#define TRNEMU_FRONTEND_CLI_PROCESSES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collectives/exchange.h"

namespace trnemu::cli {

// Meets the others, if mpirun has started several: from then on only the first
// process prints. `unsupported` if trnemu was built without MPI.
absl::Status JoinProcesses();
// All of them; without mpirun this one alone.
ProcessExchange& Processes();
bool IsFirstProcess();
// The first error of all processes, on all of them: what stops one stops all.
absl::Status AgreeOn(const absl::Status& mine);
// The texts of all processes, in the order of their numbers, on all of them.
std::vector<std::string> GatherTexts(std::vector<std::string> mine);
// Threads of this process when it is to use the whole host; 0: all, as alone.
int ThreadsOfProcess();

// Before the end of a process that has said all it had to: waits for the
// others, so that mpirun does not end them first.
void LeaveProcesses();
// Prints again, then ends all processes: for what only this one has met.
void PrintInAnyProcess();
void AbandonProcesses(int exit_code);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_PROCESSES_H_
