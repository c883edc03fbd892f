#include "isa/passes/loop_semaphores.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/passes/dependences.h"

namespace trnemu {
namespace {

class LoopAssigner {
 public:
  LoopAssigner(const Draft& draft, uint32_t core,
               const std::vector<TensorUse>& uses, const Level& level,
               const LoopNops& nops, int depth, LoopSemaphores& semaphores,
               SyncPlan& plan)
      : draft_(draft),
        core_(core),
        uses_(uses),
        level_(level),
        nops_(nops),
        depth_(depth),
        semaphores_(semaphores),
        plan_(plan) {}

  absl::Status Run();

 private:
  // A dependence of the second iteration.
  struct Edge {
    size_t producer = 0;  // item
    size_t consumer = 0;
    uint32_t lane = 0;     // of the producer
    bool carried = false;  // from the iteration before
  };

  Dependences Find();
  std::vector<Edge> EdgesOf(const Dependences& found) const;
  bool ForceUnknown(Dependences& found);
  absl::Status AddEngineEdge(const Edge& edge, Engine producer);
  absl::Status AddDmaEdges(const std::vector<Edge>& edges);
  void Prime();
  Engine EngineAt(size_t item) const {
    return draft_.instructions[core_][level_.items[item].instruction].engine;
  }
  void Wait(size_t item, uint32_t semaphore, int64_t tokens) {
    plan_.waits.push_back(
        {level_.items[item].instruction, {semaphore, tokens, true, false}});
  }
  void SignalOnce(size_t item, uint32_t semaphore) {
    if (!signalled_.insert({item, semaphore}).second) return;
    plan_.signals.push_back({level_.items[item].instruction, {semaphore}});
  }

  const Draft& draft_;
  const uint32_t core_;
  const std::vector<TensorUse>& uses_;
  const Level& level_;
  const LoopNops& nops_;
  const int depth_;
  LoopSemaphores& semaphores_;
  SyncPlan& plan_;
  std::vector<bool> forced_;  // by item
  std::set<std::pair<size_t, uint32_t>> signalled_;
  // Tokens that stand for the iteration before the first: by consumer and
  // semaphore.
  std::map<std::pair<Engine, uint32_t>, int64_t> primes_;
};

// The dependences of two iterations, such that after the loop, having taken its
// tokens away, each engine knows the DMAs it triggered complete.
Dependences LoopAssigner::Find() {
  forced_.assign(level_.items.size(), false);
  for (;;) {
    Dependences found =
        FindLoopDependences(draft_, core_, uses_, level_, forced_);
    if (!ForceUnknown(found)) return found;
  }
}

bool LoopAssigner::ForceUnknown(Dependences& found) {
  const size_t n = level_.items.size();
  // What the tokens left over at the end say.
  for (const Edge& edge : EdgesOf(found)) {
    if (!edge.carried) continue;
    found.clocks.Wait(EngineAt(edge.consumer),
                      found.lanes.events[edge.producer + n]);
  }
  bool forced = false;
  std::set<uint32_t> seen;  // lanes, from the end
  for (size_t i = n; i-- > 0;) {
    const Event event = found.lanes.events[i + n];
    if (event.lane < kFirstDmaLane || !seen.insert(event.lane).second) continue;
    if (found.clocks.Knows(EngineAt(i), event) || forced_[i]) continue;
    forced_[i] = true;
    forced = true;
  }
  return forced;
}

std::vector<LoopAssigner::Edge> LoopAssigner::EdgesOf(
    const Dependences& found) const {
  const size_t n = level_.items.size();
  std::vector<std::vector<size_t>> item_of(found.lanes.info.size());
  for (size_t i = 0; i < 2 * n; ++i) {
    item_of[found.lanes.events[i].lane].push_back(i);
  }
  std::vector<Edge> edges;
  for (size_t i = n; i < 2 * n; ++i) {
    for (const Event event : found.WaitsOf(i)) {
      const size_t producer = item_of[event.lane][event.sequence - 1];
      edges.push_back({producer % n, i - n, event.lane, producer < n});
    }
  }
  return edges;
}

absl::Status LoopAssigner::Run() {
  if (level_.items.empty()) return absl::OkStatus();
  const Dependences found = Find();
  std::vector<Edge> dma_edges;
  for (const Edge& edge : EdgesOf(found)) {
    if (edge.lane >= kFirstDmaLane) {
      dma_edges.push_back(edge);
      continue;
    }
    absl::Status status = AddEngineEdge(edge, static_cast<Engine>(edge.lane));
    if (!status.ok()) return status;
  }
  absl::Status status = AddDmaEdges(dma_edges);
  if (!status.ok()) return status;
  Prime();
  return absl::OkStatus();
}

absl::Status LoopAssigner::AddEngineEdge(const Edge& edge, Engine producer) {
  const Engine consumer = EngineAt(edge.consumer);
  const auto semaphore = semaphores_.Get(depth_, producer, consumer, 0);
  if (!semaphore.ok()) return semaphore.status();
  SignalOnce(edge.producer, *semaphore);
  Wait(edge.consumer, *semaphore, 1);
  if (edge.carried) ++primes_[{consumer, *semaphore}];
  return absl::OkStatus();
}

// One semaphore for the DMAs of one triggering engine that an item waits for
// of the same iteration.
absl::Status LoopAssigner::AddDmaEdges(const std::vector<Edge>& edges) {
  std::map<std::tuple<size_t, bool, Engine>, std::vector<size_t>> groups;
  for (const Edge& edge : edges) {
    groups[{edge.consumer, edge.carried, EngineAt(edge.producer)}].push_back(
        edge.producer);
  }
  std::map<std::pair<Engine, Engine>, int> numbers;
  for (const auto& [key, producers] : groups) {
    const auto& [item, carried, trigger] = key;
    const Engine consumer = EngineAt(item);
    const auto semaphore = semaphores_.Get(depth_, trigger, consumer,
                                           ++numbers[{trigger, consumer}]);
    if (!semaphore.ok()) return semaphore.status();
    int64_t tokens = 0;
    for (size_t producer : producers) {
      const Instruction& dma =
          draft_.instructions[core_][level_.items[producer].instruction];
      const auto set =
          draft_.program.cores[core_].AttributesOf(dma)[0].integer();
      tokens += draft_.program.queue_sets[set].queues;
      SignalOnce(producer, *semaphore);
    }
    Wait(item, *semaphore, tokens);
    if (carried) primes_[{consumer, *semaphore}] += tokens;
  }
  return absl::OkStatus();
}

void LoopAssigner::Prime() {
  for (const auto& [key, tokens] : primes_) {
    const auto [consumer, semaphore] = key;
    const size_t e = static_cast<size_t>(consumer);
    plan_.signals.push_back(
        {*nops_.entry[e],
         {semaphore, SignalOp::kAdd, SignalAt::kComplete, tokens, false}});
    plan_.waits.push_back({*nops_.exit[e], {semaphore, tokens, true, false}});
  }
}

}  // namespace

LoopSemaphores::LoopSemaphores(uint32_t core, const Hardware& hardware,
                               Draft& draft)
    : core_(core), limit_(hardware.sequencer.semaphores), draft_(draft) {
  for (const SemaphoreInfo& info : draft.program.semaphores) {
    if (info.core == core) ++used_;
  }
}

absl::StatusOr<uint32_t> LoopSemaphores::Get(int depth, Engine producer,
                                             Engine consumer, int number) {
  const auto [it, added] = semaphores_.try_emplace(
      {depth, producer, consumer, number}, draft_.program.semaphores.size());
  if (!added) return it->second;
  if (used_++ >= limit_) {
    return CannotSynchronise(
        absl::StrCat("the core has ", limit_,
                     " semaphores, all in use, and a loop needs more"),
        core_);
  }
  const std::string prefix =
      core_ == 0 ? "auto." : absl::StrCat("auto.core", core_, ".");
  draft_.program.semaphores.push_back(
      {core_,
       absl::StrCat(prefix, "loop", depth, ".", std::string(Name(producer)),
                    number > 0 ? absl::StrCat(".dma", number) : "", ".",
                    std::string(Name(consumer)))});
  return it->second;
}

absl::Status SynchroniseLoop(const Draft& draft, uint32_t core,
                             const std::vector<TensorUse>& uses,
                             const Level& level, const LoopNops& nops,
                             int depth, LoopSemaphores& semaphores,
                             SyncPlan& plan) {
  return LoopAssigner(draft, core, uses, level, nops, depth, semaphores, plan)
      .Run();
}

}  // namespace trnemu
