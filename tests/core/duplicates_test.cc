#include "core/duplicates.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace trnemu {
namespace {

// A row of 4-byte elements; steps are in elements.
Tile RowOf(const std::vector<Dim>& dims) {
  Tile tile;
  tile.dtype = Dtype::kFloat32;
  tile.space = Space::kHbm;
  tile.rank = static_cast<uint8_t>(dims.size());
  tile.free_size = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    tile.dims[d] = {dims[d].step * 4, dims[d].count};
    tile.free_size *= dims[d].count;
  }
  return tile;
}

// The offset of each element, in order.
std::vector<int64_t> OffsetsOf(const Tile& tile) {
  std::vector<int64_t> offsets = {0};
  for (int d = 0; d < tile.rank; ++d) {
    std::vector<int64_t> inner;
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < tile.dims[d].count; ++i) {
        inner.push_back(offset + i * tile.dims[d].step);
      }
    }
    offsets = inner;
  }
  return offsets;
}

TEST(DuplicateElements, AreThoseOfAStepOfZeroAndOfRowsThatOverlap) {
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(DuplicateElements(RowOf({{24, 8}, {1, 24}})), Pair(-1, -1));
  EXPECT_EQ(DuplicateElements(RowOf({{0, 8}, {1, 24}})), Pair(0, 24));
  EXPECT_EQ(DuplicateElements(RowOf({{0, 1}, {1, 24}})), Pair(-1, -1));
  EXPECT_EQ(DuplicateElements(RowOf({{1, 8}, {1, 24}})), Pair(1, 24));
  // Rows of 3 that are 2 apart: the last of one is the first of the next.
  EXPECT_EQ(DuplicateElements(RowOf({{2, 2}, {1, 3}})), Pair(2, 3));
  // 0, 3 and 2, 5: they interleave.
  EXPECT_EQ(DuplicateElements(RowOf({{2, 2}, {3, 2}})), Pair(-1, -1));
  // Backwards: 0, 1, 2 and -1, 0, 1.
  EXPECT_EQ(DuplicateElements(RowOf({{-1, 2}, {1, 3}})), Pair(0, 4));
  EXPECT_EQ(DuplicateElements(RowOf({{0, 1}})), Pair(-1, -1));
}

TEST(DuplicateElements, AreThoseThatALookAtEachElementFinds) {
  std::mt19937 random(5);
  int with = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<Dim> dims(1 + random() % kMaxDims);
    for (Dim& dim : dims) {
      dim.count = 1 + static_cast<int64_t>(random() % 4);
      dim.step = static_cast<int64_t>(random() % 61) - 20;
    }
    const Tile tile = RowOf(dims);
    const std::vector<int64_t> offsets = OffsetsOf(tile);
    const std::map<int64_t, int64_t> places = [&] {
      std::map<int64_t, int64_t> found;
      for (const int64_t offset : offsets) ++found[offset];
      return found;
    }();
    const auto [first, second] = DuplicateElements(tile);
    if (places.size() == offsets.size()) {
      EXPECT_EQ(first, -1);
      continue;
    }
    ++with;
    ASSERT_GE(first, 0);
    ASSERT_LT(first, second);
    ASSERT_LT(second, tile.free_size);
    EXPECT_EQ(offsets[static_cast<size_t>(first)],
              offsets[static_cast<size_t>(second)]);
  }
  EXPECT_GT(with, 500);
  EXPECT_LT(with, 3500);
}

}  // namespace
}  // namespace trnemu
