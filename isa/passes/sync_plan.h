// The waits and signals that Synchronise adds, before they go into the draft.
#ifndef TRNEMU_ISA_PASSES_SYNC_PLAN_H_
#define TRNEMU_ISA_PASSES_SYNC_PLAN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "isa/draft.h"
#include "isa/program.h"

namespace trnemu {

// By index of the instruction in the core's draft, in any order.
struct SyncPlan {
  std::vector<std::pair<uint32_t, Wait>> waits;
  std::vector<std::pair<uint32_t, Signal>> signals;
};

// Puts them behind the instructions' own, in new pools. `limit` if an
// instruction gets more than 255 of either; the draft is then half done.
absl::Status ApplyPlan(SyncPlan plan, uint32_t core, Draft& draft);

// `limit` (synchronise.semaphores): `message` says why dependences cannot be
// expressed.
absl::Status CannotSynchronise(std::string message, uint32_t core);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_SYNC_PLAN_H_
