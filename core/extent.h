// The bytes of a partition that a tile can touch.
#ifndef TRNEMU_CORE_EXTENT_H_
#define TRNEMU_CORE_EXTENT_H_

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/execution.h"

namespace trnemu {

// [low, high) of one partition, in bytes from the tile's base; low is negative
// where a step is. Gaps between strided elements are inside.
inline std::pair<ptrdiff_t, ptrdiff_t> RowExtent(const Tile& tile) {
  ptrdiff_t low = 0;
  ptrdiff_t high = static_cast<ptrdiff_t>(SizeOf(tile.dtype));
  for (int d = 0; d < tile.rank; ++d) {
    const ptrdiff_t reach = tile.dims[d].step * (tile.dims[d].count - 1);
    low += std::min<ptrdiff_t>(reach, 0);
    high += std::max<ptrdiff_t>(reach, 0);
  }
  return {low, high};
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_EXTENT_H_
