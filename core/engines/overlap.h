// Operands of one instruction that share bytes, other than each element with
// itself.
#ifndef TRNEMU_CORE_ENGINES_OVERLAP_H_
#define TRNEMU_CORE_ENGINES_OVERLAP_H_

#include <cstdint>

#include "core/execution.h"

namespace trnemu {

// The first element of `dst`, in the order of a partition's row, whose bytes a
// later element of `src` has: an engine that reads and writes element after
// element would meet its own result there. {-1, -1}: there is none. Exact for
// tiles on chip of as many elements a partition; of others, and of one view
// onto itself, there is none.
struct Ahead {
  int64_t written = -1;
  int64_t read = -1;
};
Ahead WrittenBeforeRead(const Tile& dst, const Tile& src);

// Warns (unspecified, operand.overlap) if there is one. Rows are read as a
// whole before they are written (core/engines/rows.h).
void WarnOfOverlap(const Tile& dst, const Tile& src, CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_OVERLAP_H_
