#include "core/layout.h"

namespace trnemu {
namespace {

// Adds a dimension inside the ones that are there.
void Append(Layout& layout, int& rank, Dim dim) {
  if (dim.count == 1) return;
  if (rank > 0) {
    Dim& outer = layout.dims[rank - 1];
    if (outer.step == dim.step * dim.count) {
      outer = {dim.step, outer.count * dim.count};
      return;
    }
  }
  layout.dims[rank++] = dim;
}

Layout Merged(const Tile& tile, Dim partition) {
  Layout layout;
  int rank = 0;
  Append(layout, rank, partition);
  for (int d = 0; d < tile.rank; ++d) Append(layout, rank, tile.dims[d]);
  if (rank == 0) layout.dims[rank++] = {0, 1};
  layout.rank = rank;
  return layout;
}

}  // namespace

Layout RowLayout(const Tile& tile) { return Merged(tile, {0, 1}); }

Layout FlatLayout(const Tile& tile) {
  return Merged(tile, {tile.partition_stride, tile.partitions});
}

RunCursor::RunCursor(const Layout& layout, int64_t first) : layout_(layout) {
  if (first == 0) return;
  in_run_ = first % layout.run();
  offset_ = in_run_ * layout.step();
  int64_t rest = first / layout.run();
  for (int d = layout.rank - 2; d >= 0; --d) {
    at_[d] = rest % layout.dims[d].count;
    rest /= layout.dims[d].count;
    offset_ += at_[d] * layout.dims[d].step;
  }
}

void RunCursor::Advance(int64_t n) {
  in_run_ += n;
  offset_ += n * layout_.step();
  if (in_run_ < layout_.run()) return;
  in_run_ = 0;
  offset_ -= layout_.run() * layout_.step();
  for (int d = layout_.rank - 2; d >= 0; --d) {
    const Dim& dim = layout_.dims[d];
    offset_ += dim.step;
    if (++at_[d] < dim.count) return;
    offset_ -= dim.step * dim.count;
    at_[d] = 0;
  }
}

}  // namespace trnemu
