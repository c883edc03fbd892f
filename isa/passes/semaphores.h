// Phase two of Synchronise: which semaphores carry the waits.
#ifndef TRNEMU_ISA_PASSES_SEMAPHORES_H_
#define TRNEMU_ISA_PASSES_SEMAPHORES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "isa/draft.h"
#include "isa/hardware.h"
#include "isa/passes/dependences.h"
#include "isa/passes/sync_plan.h"

namespace trnemu {

// Adds the semaphores, waits and signals that `dependences` of the items of
// `level`, which run once, ask for. Semaphores only rise. An engine counts, on
// one of its own, those of its instructions that somebody waits for. A DMA that
// somebody waits for takes a semaphore whose DMA before is known complete where
// it is triggered; where there is none and no other may be made, the trigger
// waits for the oldest. `limit` if the core's semaphores, or their range, run
// out.
absl::Status AssignSemaphores(const Dependences& dependences,
                              const Level& level, uint32_t core,
                              const Hardware& hardware, Draft& draft,
                              SyncPlan& plan);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_SEMAPHORES_H_
