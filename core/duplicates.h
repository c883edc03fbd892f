// Access patterns that name an element of their tensor more than once: steps
// of 0, and dimensions that overlap.
#ifndef TRNEMU_CORE_DUPLICATES_H_
#define TRNEMU_CORE_DUPLICATES_H_

#include <cstdint>
#include <utility>

#include "core/execution.h"

namespace trnemu {

// The positions, in the row's order, of two elements of a partition's row that
// are the same; {-1, -1} if there are none. Exact. Costs nothing to speak of
// unless three or more dimensions interleave, when it sorts their elements.
std::pair<int64_t, int64_t> DuplicateElements(const Tile& tile);

// Warns (unspecified, dma.duplicate_elements) if the parts of a transfer write
// an element of `dst` more than once, and says whether.
bool WarnOfDuplicateElements(const Tile& dst, FindingSink& sink);

}  // namespace trnemu

#endif  // TRNEMU_CORE_DUPLICATES_H_
