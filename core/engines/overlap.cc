#include "core/engines/overlap.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/engines/rows.h"
#include "core/layout.h"

namespace trnemu {
namespace {

bool SharePartitions(const Tile& a, const Tile& b) {
  return a.space == b.space && a.space != Space::kHbm &&
         a.first_partition < b.first_partition + b.partitions &&
         b.first_partition < a.first_partition + a.partitions;
}

// Whether each element meets itself or an earlier one, at a glance: views of
// one place, and a row that is moved towards its start.
bool IsInPlaceOrBackwards(const Tile& dst, const Tile& src) {
  if (SizeOf(dst.dtype) != SizeOf(src.dtype)) return false;
  const Layout to = RowLayout(dst);
  const Layout from = RowLayout(src);
  if (to.rank != from.rank ||
      !std::equal(to.dims.begin(), to.dims.begin() + to.rank,
                  from.dims.begin())) {
    return false;
  }
  return dst.address == src.address ||
         (dst.address < src.address && to.contiguous(SizeOf(dst.dtype)));
}

// The byte in the partition at which each element of a row begins.
std::vector<int64_t> PlacesOf(const Tile& tile) {
  std::vector<int64_t> places(static_cast<size_t>(tile.free_size));
  const Layout layout = RowLayout(tile);
  ForEachRun(layout, 0, tile.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 places[static_cast<size_t>(first + i)] =
                     tile.address + offset + i * layout.step();
               }
             });
  return places;
}

}  // namespace

Ahead WrittenBeforeRead(const Tile& dst, const Tile& src) {
  if (dst.free_size != src.free_size || !SharePartitions(dst, src) ||
      IsInPlaceOrBackwards(dst, src)) {
    return {};
  }
  const auto to_size = static_cast<int64_t>(SizeOf(dst.dtype));
  const auto from_size = static_cast<int64_t>(SizeOf(src.dtype));
  const std::vector<int64_t> to = PlacesOf(dst);
  // Where elements begin, with the last of those that begin there.
  std::vector<std::pair<int64_t, int64_t>> from;
  const std::vector<int64_t> places = PlacesOf(src);
  for (size_t j = 0; j < places.size(); ++j) {
    from.emplace_back(places[j], static_cast<int64_t>(j));
  }
  std::sort(from.begin(), from.end());
  for (int64_t i = 0; i < dst.free_size; ++i) {
    const int64_t begin = to[static_cast<size_t>(i)];
    auto at = std::upper_bound(from.begin(), from.end(),
                               std::pair(begin - from_size + 1, int64_t{-1}));
    for (; at != from.end() && at->first < begin + to_size; ++at) {
      if (at->second > i) return {i, at->second};
    }
  }
  return {};
}

void WarnOfOverlap(const Tile& dst, const Tile& src, CoreState& state) {
  if (!state.check_values) return;
  const Ahead found = WrittenBeforeRead(dst, src);
  if (found.written < 0) return;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "operand.overlap";
  d.operand = "dst";
  d.message = absl::StrCat(
      "dst overlaps what the instruction reads: its element ", found.written,
      " is written where element ", found.read,
      " is read later; no document says which value that sees. Here rows are "
      "read before they are written");
  d.details = {{"elements", absl::StrCat(found.written, ", ", found.read)}};
  d.remedy = "write to another tile, or in place: element onto element";
  d.reference = "nki/api/nki/isa/__init__.py, which does not say";
  Warn(state, std::move(d));
}

}  // namespace trnemu
