// What a plan costs in memory accesses and traffic, whatever the time.
#ifndef TRNEMU_COLLECTIVES_COUNTS_H_
#define TRNEMU_COLLECTIVES_COUNTS_H_

#include <cstdint>
#include <vector>

#include "collectives/plan.h"
#include "collectives/problem.h"

namespace trnemu {

// Bytes.
struct TrafficCounts {
  int64_t read = 0, written = 0;  // of the member's memory, by anyone
  // By the member's engines, for each destination: to other members; of those,
  // to other chips.
  int64_t sent = 0, sent_to_chips = 0;
};

// By member. `element_bytes` of the dtype.
std::vector<TrafficCounts> CountTraffic(const Plan& plan,
                                        const GroupShape& shape,
                                        int64_t element_bytes);

// Bytes of memory that all moves of a step read and write.
int64_t AccessesOfStep(const Plan& plan, int step, int64_t element_bytes);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_COUNTS_H_
