// What the processes that share a run of several ranks tell each other.
//
// Every process knows the whole system and answers all ranks' calls in the
// same way; it has the memory and the runners of its own ranks only. So what
// ranks have done goes to all, and values to where they are written. All
// processes make the same calls in the same order.
#ifndef TRNEMU_COLLECTIVES_EXCHANGE_H_
#define TRNEMU_COLLECTIVES_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collectives/call_info.h"
#include "collectives/topology.h"
#include "core/run.h"
#include "core/transport.h"

namespace trnemu {

struct EndedMove {
  Ticks end = 0, start = 0;
  int32_t rank = 0;  // that carried it out
  int64_t id = 0;
};

// What ended a rank's run, or what its process could not do.
struct Failure {
  Ticks time = 0;
  int32_t rank = 0;  // or another number that says which one comes first
  absl::Status status;
};

// What a process has to tell, of its own ranks.
struct News {
  Ticks next = kNever;  // when the first of them goes on
  std::vector<CallInfo> calls;
  std::vector<EndedMove> ended;
  // What ranks that are not at their end wait for.
  std::vector<std::pair<int32_t, std::string>> stalls;
  std::optional<Failure> failure;                      // the first
  std::vector<std::pair<int32_t, RunResult>> results;  // without outputs
  std::vector<std::string> texts;  // of who uses the run, to put together
};

// One process: nobody to tell.
class ProcessExchange {
 public:
  virtual ~ProcessExchange() = default;
  virtual int process() const { return 0; }
  virtual int processes() const { return 1; }
  // Everyone's news, by process.
  virtual std::vector<News> Tell(News mine);
  // Sends out[p] to process p and fills in[p], of the size that p sends;
  // nothing goes where there are no bytes.
  virtual void Swap(const std::vector<std::vector<std::byte>>&,
                    std::vector<std::vector<std::byte>>&) {}

  // The first failure of all processes: in simulated time, then of the lowest
  // rank; the same one on every process. Before the run, too: what stops one
  // process stops all.
  absl::Status Agree(std::optional<Failure> mine);
};
absl::Status FirstFailure(const std::vector<News>& news);

// By rank, its process: chips, each whole, in order and evenly. `input`
// (option.processes) if there are fewer chips than processes.
absl::StatusOr<std::vector<int32_t>> SpreadRanks(const Topology& topology,
                                                 int processes);

// By the variables that mpirun and its like set: how many processes they have
// started together, and this one's number; 1 and 0 without them.
int LaunchedProcesses();
int LaunchedProcess();

// Processes that mpirun has started (exchange_mpi.cc, a library of its own,
// trnemu_mpi: only the command links MPI). Once in a process. Destroyed before
// Close it ends all processes: what brought one down must not leave others
// waiting for it.
class MpiExchange : public ProcessExchange {
 public:
  static std::unique_ptr<MpiExchange> Connect();
  // Processes on this one's host, with itself: they share its processors.
  virtual int neighbours() const = 0;
  // Waits for all others: every process has said what it had to.
  virtual void Close() = 0;
  // Ends all processes at once.
  virtual void Abort(int exit_code) = 0;
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_EXCHANGE_H_
