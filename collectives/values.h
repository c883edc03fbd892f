// What moves do to memory.
#ifndef TRNEMU_COLLECTIVES_VALUES_H_
#define TRNEMU_COLLECTIVES_VALUES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/active.h"
#include "collectives/exchange.h"
#include "collectives/pool.h"

namespace trnemu {

struct MoveOfValues {
  Active* active = nullptr;
  uint32_t move = 0;
};

// Carries them out: all are read before any is written (but not more than some
// megabytes at a time, in their order), so that the result does not depend on
// threads whatever they overlap. `process`, by rank, says who has its memory:
// the process of a move's own member reads and reduces, and sends what others
// write. All processes give the same moves.
void MoveValues(std::span<const MoveOfValues> moves,
                const NumericsOptions& numerics, Pool& pool,
                ProcessExchange& exchange, const std::vector<int32_t>& process);

// The buffer that the documents measure an operation by: of an all_reduce a
// rank's, of an all_gather its output, of a reduce_scatter and an all_to_all its
// input, else what one rank sends.
int64_t DocumentedBytes(const Problem& problem, int64_t members);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_VALUES_H_
