// Two phases per core: FindDependences says who waits for whom, with vector
// clocks so that nothing known is waited for; AssignSemaphores numbers what is
// left. Straight-line programs only.
#include <cstdint>

#include "isa/draft.h"
#include "isa/passes/dependences.h"
#include "isa/passes/semaphores.h"

namespace trnemu {

absl::Status Synchronise(Draft& draft, const Hardware& hardware) {
  for (uint32_t core = 0; core < draft.instructions.size(); ++core) {
    const Dependences dependences =
        FindDependences(draft.program, core, draft.instructions[core]);
    absl::Status status = AssignSemaphores(dependences, core, hardware, draft);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace trnemu
