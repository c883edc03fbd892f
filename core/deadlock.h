// Who waits for whom when a run cannot go on.
//
// A graph: engines that wait and sendrecvs that were triggered and wait for the
// other core; an edge goes to whoever would have to proceed first. What nothing
// can end (a wait that no instruction is left to signal, a sendrecv that the
// other core never comes to) is a cause, else a cycle is.
#ifndef TRNEMU_CORE_DEADLOCK_H_
#define TRNEMU_CORE_DEADLOCK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exchange.h"
#include "core/semaphores.h"
#include "core/sequencer.h"
#include "isa/diagnostic.h"
#include "isa/program.h"

namespace trnemu {

// What a runner has when nothing can proceed. Everything is kept by reference.
struct StalledRun {
  const Program& program;
  const Semaphores& semaphores;
  const SemaphoreUse& use;
  std::span<const Sequencer> sequencers;
  const Exchanges& exchanges;
  // sendrecvs whose cores have met, but whose parts each wait in a queue
  // behind a part of another (random order alone).
  std::vector<const ExchangeEnd*> crossed;
};

struct WaitGraph {
  // An instruction and the engine whose stream it is in.
  struct Place {
    size_t core = 0;
    Engine engine = Engine::kUnknown;
    const Instruction* instruction = nullptr;
    // Of `uses`: how often its signal or wait took effect, and the sum.
    int64_t times = 0;
    int64_t total = 0;
    int64_t queues = 1;  // a signal's: those of its transfer
  };
  // One wait that does not hold.
  struct Blocked {
    uint32_t semaphore = 0;
    int64_t wanted = 0;
    int64_t value = 0;
    bool consume = false;
    std::vector<Place> could_signal;  // left to be executed
    std::vector<size_t> exchanges;    // nodes that would signal it
    std::vector<Place> signalled;     // signalled it before
    std::vector<Place> taken;         // consumed of it before
    std::vector<Place> skipped;       // branched past, never to come
  };
  struct Node {
    Place at;
    std::vector<Blocked> waits;             // an engine's
    const ExchangeEnd* exchange = nullptr;  // a triggered sendrecv's
    std::optional<Place> partner;           // that it waits for, if it is left
    bool is_exchange() const { return exchange != nullptr; }
    bool hopeless = false;  // nothing can end it
  };
  std::vector<Node> nodes;  // engines in their order, then sendrecvs
  // Nodes of a cycle, each waiting for the next; the first again at the end is
  // left out. Empty if there is none.
  std::vector<size_t> cycle;
  // Where the report starts: hopeless nodes, else the cycle's first.
  std::vector<size_t> causes;

  // The node of an engine, or nodes.size().
  size_t NodeOf(size_t core, Engine engine) const;
};

WaitGraph MakeWaitGraph(const StalledRun& run);

// The report; OK if nothing is left to execute.
absl::Status ReportDeadlock(const StalledRun& run);

// docs/deadlock.md has the schema.
std::string WaitGraphJson(const StalledRun& run, const WaitGraph& graph);
// Graphviz of a Diagnostic's wait_graph; "" if it is none.
std::string WaitGraphDot(std::string_view json);

}  // namespace trnemu

#endif  // TRNEMU_CORE_DEADLOCK_H_
