// Phase two of Synchronise inside a loop: waits that consume.
//
// A dependence from one engine to another is a queue of tokens: the producer
// adds one for each instruction that is waited for, the consumer takes one for
// each wait. Dependences between two engines never cross, since what an engine
// knows is not waited for, so that one semaphore carries all of a pair. A
// dependence on the iteration before starts with a token that the consumer
// puts there before the loop, and takes away after it: all semaphores are 0
// outside, whatever the trip count. No engine runs ahead by more than a loop
// of dependences allows, since dependences on data go both ways.
// DMAs complete in parts, and a part is a token: the DMAs that one instruction
// waits for have a semaphore of their own, and are triggered again only when
// they are known complete.
#ifndef TRNEMU_ISA_PASSES_LOOP_SEMAPHORES_H_
#define TRNEMU_ISA_PASSES_LOOP_SEMAPHORES_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "isa/draft.h"
#include "isa/hardware.h"
#include "isa/passes/dependences.h"
#include "isa/passes/level.h"
#include "isa/passes/sync_plan.h"

namespace trnemu {

// The semaphores of a core's loops. Loops one after the other use the same.
class LoopSemaphores {
 public:
  LoopSemaphores(uint32_t core, const Hardware& hardware, Draft& draft);

  // From `producer` (or the `number`-th group of DMAs that it triggers, from 1)
  // to `consumer`, at a nesting depth.
  absl::StatusOr<uint32_t> Get(int depth, Engine producer, Engine consumer,
                               int number);
  uint32_t core() const { return core_; }

 private:
  const uint32_t core_;
  const int64_t limit_;
  Draft& draft_;
  int64_t used_ = 0;
  std::map<std::tuple<int, Engine, Engine, int>, uint32_t> semaphores_;
};

// The Nops around a loop, by engine: indices into the core's draft.
struct LoopNops {
  std::array<std::optional<uint32_t>, kEngineNames.size()> entry, exit;
};

// Adds what the body `level` of a loop at `depth` (from 0) needs.
absl::Status SynchroniseLoop(const Draft& draft, uint32_t core,
                             const std::vector<TensorUse>& uses,
                             const Level& level, const LoopNops& nops,
                             int depth, LoopSemaphores& semaphores,
                             SyncPlan& plan);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_LOOP_SEMAPHORES_H_
