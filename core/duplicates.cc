#include "core/duplicates.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/layout.h"

namespace trnemu {
namespace {

constexpr std::pair<int64_t, int64_t> kNone = {-1, -1};

// A dimension, and how far apart its neighbours are in the row's order.
struct Way {
  int64_t step = 0;  // bytes
  int64_t count = 1;
  int64_t stride = 1;
};

// Of two dimensions by themselves: i steps of one lead where j of the other do
// for the least i = |b| / g and j = |a| / g, g being their common divisor.
std::pair<int64_t, int64_t> DuplicateOf(const Way& a, const Way& b) {
  if (a.step == 0) return {0, a.stride};
  if (b.step == 0) return {0, b.stride};
  const int64_t divisor = std::gcd(a.step, b.step);
  const int64_t i = std::abs(b.step) / divisor;
  const int64_t j = std::abs(a.step) / divisor;
  if (i >= a.count || j >= b.count) return kNone;
  // Of opposite signs they lead back together.
  if ((a.step < 0) != (b.step < 0)) return {0, i * a.stride + j * b.stride};
  return std::minmax(i * a.stride, j * b.stride);
}

std::pair<int64_t, int64_t> FirstEqual(const Way* ways, int count) {
  std::vector<std::pair<int64_t, int64_t>> places = {{0, 0}};  // position
  for (int w = 0; w < count; ++w) {
    const size_t before = places.size();
    for (int64_t k = 1; k < ways[w].count; ++k) {
      for (size_t p = 0; p < before; ++p) {
        places.emplace_back(places[p].first + k * ways[w].step,
                            places[p].second + k * ways[w].stride);
      }
    }
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].first == places[i - 1].first) {
      return {places[i - 1].second, places[i].second};
    }
  }
  return kNone;
}

}  // namespace

std::pair<int64_t, int64_t> DuplicateElements(const Tile& tile) {
  if (tile.contiguous) return kNone;
  const Layout layout = RowLayout(tile);
  std::array<Way, kMaxDims + 1> ways;  // smaller steps first
  int64_t stride = 1;
  for (int d = layout.rank - 1, sorted = 0; d >= 0; --d, ++sorted) {
    const Dim& dim = layout.dims[static_cast<size_t>(d)];
    size_t at = static_cast<size_t>(sorted);
    for (; at > 0 && std::abs(ways[at - 1].step) > std::abs(dim.step); --at) {
      ways[at] = ways[at - 1];
    }
    ways[at] = {dim.step, dim.count, stride};
    stride *= dim.count;
  }
  if (stride == 1) return kNone;
  // A dimension that steps over all that the smaller ones reach adds nothing
  // that was there: only those before the last that does not matter.
  int interleaved = 0;
  int64_t reach = static_cast<int64_t>(SizeOf(tile.dtype));
  for (int w = 0; w < layout.rank; ++w) {
    const int64_t step = std::abs(ways[static_cast<size_t>(w)].step);
    if (step < reach) interleaved = w + 1;
    reach += step * (ways[static_cast<size_t>(w)].count - 1);
  }
  if (interleaved == 1) return {0, ways[0].stride};
  for (int a = 0; a < interleaved; ++a) {
    for (int b = a + 1; b < interleaved; ++b) {
      const auto found = DuplicateOf(ways[static_cast<size_t>(a)],
                                     ways[static_cast<size_t>(b)]);
      if (found != kNone) return found;
    }
  }
  return interleaved > 2 ? FirstEqual(ways.data(), interleaved) : kNone;
}

bool WarnOfDuplicateElements(const Tile& dst, FindingSink& sink) {
  const auto [first, second] = DuplicateElements(dst);
  if (first < 0) return false;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.severity = Severity::kWarning;
  d.id = "dma.duplicate_elements";
  d.operand = "dst";
  d.message = absl::StrCat(
      "dst: its elements ", first, " and ", second,
      dst.space == Space::kHbm ? "" : " of each partition",
      " are the same place: which value stays depends on the order of "
      "descriptors");
  d.details = {{"positions", absl::StrCat(first, ", ", second)}};
  d.remedy = "write every element once; to repeat, broadcast src";
  d.reference = "nki/api/nki/isa/__init__.py:246, which does not say";
  sink.Warn(std::move(d));
  return true;
}

}  // namespace trnemu
