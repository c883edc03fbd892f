// The order in which the elements of a tile lie in memory.
//
// A Layout is a tile's dimensions without those of count 1 and with neighbours
// merged where that changes nothing, so that its innermost dimension, a run,
// is as long as it can be. Runs are what row kernels, shadow checks and DMA
// work on.
#ifndef TRNEMU_CORE_LAYOUT_H_
#define TRNEMU_CORE_LAYOUT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/execution.h"

namespace trnemu {

struct Layout {
  int rank = 1;
  std::array<Dim, kMaxDims + 1> dims{};  // outermost first, steps in bytes

  int64_t run() const { return dims[rank - 1].count; }  // elements
  ptrdiff_t step() const { return dims[rank - 1].step; }
  // All elements lie one after the other.
  bool contiguous(size_t element_bytes) const {
    return rank == 1 &&
           (run() == 1 || step() == static_cast<ptrdiff_t>(element_bytes));
  }
};

// Of one partition of the tile.
Layout RowLayout(const Tile& tile);
// Of the whole tile, partition after partition: the flat order of a DMA.
Layout FlatLayout(const Tile& tile);

// Walks through a layout, run by run, from element `first` on.
class RunCursor {
 public:
  RunCursor(const Layout& layout, int64_t first);

  ptrdiff_t offset() const { return offset_; }  // bytes, of the next element
  ptrdiff_t step() const { return layout_.step(); }
  int64_t remaining() const { return layout_.run() - in_run_; }
  // Skips n elements, at most remaining(). After the last element it starts
  // again.
  void Advance(int64_t n);

 private:
  const Layout& layout_;
  std::array<int64_t, kMaxDims + 1> at_{};
  int64_t in_run_ = 0;
  ptrdiff_t offset_ = 0;
};

// Calls visit(byte offset, index of the first element, elements) for each run
// of the elements [first, first + count). Stops where visit returns false, if
// it returns something.
template <typename Visit>
void ForEachRun(const Layout& layout, int64_t first, int64_t count,
                Visit visit) {
  RunCursor cursor(layout, first);
  for (int64_t done = 0; done < count;) {
    const int64_t n = std::min(cursor.remaining(), count - done);
    if constexpr (std::is_void_v<decltype(visit(ptrdiff_t{0}, n, n))>) {
      visit(cursor.offset(), first + done, n);
    } else {
      if (!visit(cursor.offset(), first + done, n)) return;
    }
    cursor.Advance(n);
    done += n;
  }
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_LAYOUT_H_
