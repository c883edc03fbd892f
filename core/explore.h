// Many legal schedules of one program, whose outputs must be the same bits.
#ifndef TRNEMU_CORE_EXPLORE_H_
#define TRNEMU_CORE_EXPLORE_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "core/device.h"

namespace trnemu {

// Called before each run: 0 is the reference, then the seed.
using ExploreProgress = std::function<void(int64_t seed)>;

// Runs as `options` say, without its order, in simulated time (in program order
// with time off) and under the seeds 1 to `schedules`; the result of the first.
// With checks full the first run looks for races, and the seeds go on in spite
// of them, to show what they do.
//
// Every run must start alike: `inputs` has to hold the inout tensors, and the
// program must not have run before on the device. Errors: of the first run as
// they are; schedule.outputs_differ (category race) at the first seed whose
// outputs differ in a bit, or a fault under a seed, with the seed among its
// details and the race that the first run found in `related`; that race, if no
// seed shows it. `replay` is what to run to see a seed again, SEED in it
// standing for the number.
absl::StatusOr<RunResult> Explore(Executable& executable, const Inputs& inputs,
                                  const RunOptions& options, int64_t schedules,
                                  const std::string& replay,
                                  const ExploreProgress& progress);

}  // namespace trnemu

#endif  // TRNEMU_CORE_EXPLORE_H_
