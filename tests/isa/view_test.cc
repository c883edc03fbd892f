// Indexing, reshaping, permuting views. The expected offsets, steps and counts
// were printed by NumPy 2.4 (`__array_interface__`, strides), not computed
// here; the step of a dimension of size 1 means nothing.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/isa/view_helpers.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct IndexCase {
  const char* index;
  Sizes shape;
  Indices indices;
  int64_t offset;
  Dims dims;
};

TEST(Slice, SelectsWhatNumPySelects) {
  const std::vector<IndexCase> cases = {
      {"1", {4, 6}, {At(1)}, 6, {{1, 6}}},
      {"-1", {4, 6}, {At(-1)}, 18, {{1, 6}}},
      {"(-4, 5)", {4, 6}, {At(-4), At(5)}, 5, {}},
      {"s(1, 3, _)", {4, 6}, {Sl(1, 3)}, 6, {{6, 2}, {1, 6}}},
      {"(s(_, _, _), s(1, 6, 2))",
       {4, 6},
       {Sl({}, {}), Sl(1, 6, 2)},
       1,
       {{6, 4}, {2, 3}}},
      {"(s(_, _, _), s(_, _, -1))",
       {4, 6},
       {Sl({}, {}), Sl({}, {}, -1)},
       5,
       {{6, 4}, {-1, 6}}},
      {"(s(_, _, -1), s(_, _, -2))",
       {4, 6},
       {Sl({}, {}, -1), Sl({}, {}, -2)},
       23,
       {{-6, 4}, {-2, 3}}},
      {"(s(_, _, _), s(-2, _, _))",
       {4, 6},
       {Sl({}, {}), Sl(-2, {})},
       4,
       {{6, 4}, {1, 2}}},
      {"(s(_, _, _), s(-100, 100, _))",
       {4, 6},
       {Sl({}, {}), Sl(-100, 100)},
       0,
       {{6, 4}, {1, 6}}},
      {"(s(_, _, _), s(100, -100, -1))",
       {4, 6},
       {Sl({}, {}), Sl(100, -100, -1)},
       5,
       {{6, 4}, {-1, 6}}},
      {"(s(_, _, _), s(4, 1, -1))",
       {4, 6},
       {Sl({}, {}), Sl(4, 1, -1)},
       4,
       {{6, 4}, {-1, 3}}},
      {"(s(_, _, _), s(4, -6, -3))",
       {4, 6},
       {Sl({}, {}), Sl(4, -6, -3)},
       4,
       {{6, 4}, {-3, 2}}},
      {"(s(_, _, _), s(5, _, -5))",
       {4, 6},
       {Sl({}, {}), Sl(5, {}, -5)},
       5,
       {{6, 4}, {-5, 2}}},
      {"s(3, 100, 7)", {4, 6}, {Sl(3, 100, 7)}, 18, {{0, 1}, {1, 6}}},
      {"(..., 0)", {2, 3, 4}, {Dots(), At(0)}, 0, {{12, 2}, {4, 3}}},
      {"...", {2, 3, 4}, {Dots()}, 0, {{12, 2}, {4, 3}, {1, 4}}},
      {"(1, ..., s(_, _, 3))",
       {2, 3, 4},
       {At(1), Dots(), Sl({}, {}, 3)},
       12,
       {{4, 3}, {3, 2}}},
      {"(..., s(1, 2, _), s(_, _, _))",
       {2, 3, 4},
       {Dots(), Sl(1, 2), Sl({}, {})},
       4,
       {{12, 2}, {0, 1}, {1, 4}}},
      {"(0, 1, 2, ...)", {2, 3, 4}, {At(0), At(1), At(2), Dots()}, 6, {}},
      {"(_, 1)", {2, 3, 4}, {New(), At(1)}, 12, {{0, 1}, {4, 3}, {1, 4}}},
      {"(s(_, _, _), _, ..., _)",
       {2, 3, 4},
       {Sl({}, {}), New(), Dots(), New()},
       0,
       {{12, 2}, {0, 1}, {4, 3}, {1, 4}, {0, 1}}},
      {"(s(_, _, _), -2, s(_, _, -1))",
       {2, 3, 4},
       {Sl({}, {}), At(-2), Sl({}, {}, -1)},
       7,
       {{12, 2}, {-1, 4}}},
      {"s(_, _, 3)", {7}, {Sl({}, {}, 3)}, 0, {{3, 3}}},
      {"s(6, 0, -2)", {7}, {Sl(6, 0, -2)}, 6, {{-2, 3}}},
      {"3", {7}, {At(3)}, 3, {}},
      {"s(-7, 1, _)", {7}, {Sl(-7, 1)}, 0, {{0, 1}}},
      {"(s(4, 0, -2), s(1, 4, _), _, 2)",
       {5, 5, 5},
       {Sl(4, 0, -2), Sl(1, 4), New(), At(2)},
       107,
       {{-50, 2}, {5, 3}, {0, 1}}},
      {"(s(1, 2, _), s(2, 3, _), s(3, 4, _))",
       {2, 3, 4},
       {Sl(1, 2), Sl(2, 3), Sl(3, 4)},
       23,
       {{0, 1}, {0, 1}, {0, 1}}},
  };
  for (const IndexCase& c : cases) {
    EXPECT_EQ(Show(Slice(Hbm(c.shape), c.indices)), Show(c.offset, c.dims))
        << c.index;
  }
}

TEST(Slice, ComposesWithEarlierSlices) {
  // np.arange(24).reshape(4, 6)[1:, ::2][-1, ::-1]
  const auto once = Slice(Hbm({4, 6}), Indices{Sl(1, {}), Sl({}, {}, 2)});
  ASSERT_TRUE(once.ok());
  EXPECT_EQ(Show(Slice(*once, Indices{At(-1), Sl({}, {}, -1)})), "22: 3x-2");
}

TEST(Slice, ReportsAnIntegerOutsideItsAxis) {
  for (const int64_t index : {int64_t{6}, int64_t{-7}, kHuge}) {
    const auto fault = FaultOf(Slice(Hbm({4, 6}), Indices{Dots(), At(index)}));
    EXPECT_EQ(fault.category, Category::kOutOfBounds);
    EXPECT_EQ(fault.id, "access.index");
    EXPECT_THAT(fault.message, HasSubstr("axis 1 with size 6"));
    EXPECT_THAT(fault.details,
                ElementsAre(std::pair("axis", "1"),
                            std::pair("index", std::to_string(index)),
                            std::pair("limit", "6")));
  }
}

TEST(Slice, RefusesASliceThatSelectsNothing) {
  for (const Index& slice : {Sl(3, 3), Sl(5, 2), Sl(100, {}), Sl({}, -6),
                             Sl(1, 4, -1), Sl({}, kHuge, -1)}) {
    EXPECT_EQ(Show(Slice(Hbm({4, 6}), Indices{Dots(), slice})), "access.empty");
    EXPECT_EQ(Show(Slice(Tile({4, 6}), Indices{Dots(), slice})),
              "access.empty");
  }
}

TEST(Slice, RefusesWhatNumPyRefuses) {
  const View x = Hbm({4, 6});
  EXPECT_EQ(Show(Slice(x, Indices{At(0), At(0), At(0)})),
            "access.too_many_indices");
  EXPECT_EQ(Show(Slice(x, Indices{Dots(), Dots()})), "access.ellipsis");
  EXPECT_EQ(Show(Slice(x, Indices{Sl(0, 2, 0)})), "access.step_zero");
}

TEST(Slice, SurvivesTheLargestSteps) {
  EXPECT_EQ(Show(Slice(Hbm({6}), Indices{Sl({}, {}, kHuge)})), "0: 1");
  EXPECT_EQ(Show(Slice(Hbm({6}), Indices{Sl({}, {}, -kHuge - 1)})), "5: 1");
  EXPECT_EQ(Show(Slice(Hbm({6}), Indices{Sl(-kHuge - 1, kHuge)})), "0: 6x1");
}

TEST(SliceOnChip, KeepsThePartitionDimensionOfAnInteger) {
  const auto row = Slice(Tile({128, 16, 32}), Indices{At(-1)});
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->start_partition, 127);
  EXPECT_THAT(row->Shape(), ElementsAre(1, 16, 32));
  EXPECT_EQ(row->offset, 0);
}

TEST(SliceOnChip, NeverHasFewerThanTwoDimensions) {
  const auto column = Slice(Tile({128, 512}), Indices{Dots(), At(3)});
  ASSERT_TRUE(column.ok());
  EXPECT_THAT(column->Shape(), ElementsAre(128, 1));
  EXPECT_EQ(column->offset, 3);
  const auto inner = Slice(Tile({128, 16, 32}), Indices{Dots(), At(1), At(2)});
  ASSERT_TRUE(inner.ok());
  EXPECT_THAT(inner->Shape(), ElementsAre(128, 1));
  EXPECT_EQ(inner->offset, 34);
}

TEST(SliceOnChip, TakesARangeOfPartitionsInOrder) {
  const auto some = Slice(Tile({128, 8}), Indices{Sl(-96, -32)});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->start_partition, 32);
  EXPECT_THAT(some->Shape(), ElementsAre(64, 8));
  const auto fewer = Slice(*some, Indices{Sl(8, 1000)});
  ASSERT_TRUE(fewer.ok());
  EXPECT_EQ(fewer->start_partition, 40);
  EXPECT_THAT(fewer->Shape(), ElementsAre(56, 8));
}

TEST(SliceOnChip, RefusesAPartitionStepOtherThanOne) {
  EXPECT_EQ(Show(Slice(Tile({128, 8}), Indices{Sl({}, {}, 2)})),
            "access.partition_step");
  EXPECT_EQ(Show(Slice(Tile({128, 8}), Indices{Sl({}, {}, -1)})),
            "access.partition_step");
}

TEST(SliceOnChip, AllowsNewAxesOnlyAmongFreeDimensions) {
  EXPECT_EQ(Show(Slice(Tile({128, 8}), Indices{New()})), "access.newaxis");
  const auto view = Slice(Tile({128, 8}), Indices{Sl({}, {}), New()});
  ASSERT_TRUE(view.ok());
  EXPECT_THAT(view->Shape(), ElementsAre(128, 1, 8));
}

TEST(Reshape, GivesNumPysStepsOrRefusesACopy) {
  const View whole = Hbm({4, 6});
  EXPECT_EQ(Show(Reshape(whole, Sizes{24})), "0: 24x1");
  EXPECT_EQ(Show(Reshape(whole, Sizes{2, 2, 3, 2})), "0: 2x12 2x6 3x2 2x1");
  const View even = *Slice(whole, Indices{Dots(), Sl({}, {}, 2)});
  EXPECT_EQ(Show(Reshape(even, Sizes{4, 3, 1})), "0: 4x6 3x2 1");
  EXPECT_EQ(Show(Reshape(even, Sizes{12})), "0: 12x2");
  const View left = *Slice(whole, Indices{Dots(), Sl({}, 3)});
  EXPECT_EQ(Show(Reshape(left, Sizes{2, 2, 3})), "0: 2x12 2x6 3x1");
  EXPECT_EQ(Show(Reshape(left, Sizes{12})), "access.reshape_copy");
  const View back = *Slice(whole, Indices{Sl({}, {}, -1), Sl({}, {}, -1)});
  EXPECT_EQ(Show(Reshape(back, Sizes{24})), "23: 24x-1");
  const View cube = Hbm({2, 3, 4});
  const View face = *Slice(cube, Indices{Dots(), Sl(1, 2)});
  EXPECT_EQ(Show(Reshape(face, Sizes{6})), "1: 6x4");
  const View row = *Slice(cube, Indices{Sl({}, {}), At(1)});
  EXPECT_EQ(Show(Reshape(row, Sizes{8})), "access.reshape_copy");
  const View part = *Slice(cube, Indices{Dots(), Sl({}, 2)});
  EXPECT_EQ(Show(Reshape(part, Sizes{6, 1, 2})), "0: 6x4 1 2x1");
  EXPECT_EQ(Show(Reshape(part, Sizes{3, 4})), "access.reshape_copy");
}

TEST(Reshape, InfersOneSize) {
  EXPECT_EQ(Show(Reshape(Hbm({4, 6}), Sizes{-1, 8})), "0: 3x8 8x1");
  EXPECT_EQ(Show(Reshape(Hbm({}), Sizes{-1})), "0: 1");
  EXPECT_EQ(Show(Reshape(Hbm({4, 6}), Sizes{-1, 7})), "access.reshape");
  EXPECT_EQ(Show(Reshape(Hbm({4, 6}), Sizes{-1, -1})), "access.reshape");
  EXPECT_EQ(Show(Reshape(Hbm({4, 6}), Sizes{-2, -12})), "access.reshape");
  EXPECT_EQ(Show(Reshape(Hbm({4, 6}), Sizes{0, -1})), "access.reshape");
  EXPECT_EQ(Show(Reshape(Hbm({4, 6}), Sizes{kHuge, kHuge})), "access.reshape");
}

TEST(ReshapeOnChip, KeepsThePartitionDimension) {
  EXPECT_EQ(Show(Reshape(Tile({128, 512}), Sizes{128, 16, -1})),
            "0: 128x0 16x32 32x1");
  EXPECT_EQ(Show(Reshape(Tile({128, 512}), Sizes{64, 1024})),
            "access.reshape_partition");
  EXPECT_EQ(Show(Reshape(Tile({128, 1}), Sizes{128})),
            "access.reshape_partition");
}

TEST(Permute, ReordersDimensions) {
  EXPECT_EQ(Show(Permute(Hbm({2, 3, 4}), Sizes{2, 0, -2})), "0: 4x1 2x12 3x4");
  EXPECT_EQ(Show(Permute(Hbm({2, 3, 4}), Sizes{0, 1})), "access.permute");
  EXPECT_EQ(Show(Permute(Hbm({2, 3, 4}), Sizes{0, 1, 1})), "access.permute");
  EXPECT_EQ(Show(Permute(Hbm({2, 3, 4}), Sizes{0, 1, 3})), "access.axis");
}

TEST(PermuteOnChip, LeavesThePartitionDimensionFirst) {
  EXPECT_EQ(Show(Permute(Tile({128, 3, 4}), Sizes{0, 2, 1})),
            "0: 128x0 4x1 3x4");
  EXPECT_EQ(Show(Permute(Tile({128, 3, 4}), Sizes{1, 0, 2})),
            "access.permute_partition");
}

TEST(Broadcast, RepeatsASizeOneDimensionWithStepZero) {
  EXPECT_EQ(Show(Broadcast(Hbm({3, 1}), -1, 5)), "0: 3x1 5x0");
  EXPECT_EQ(Show(Broadcast(Hbm({1, 3}), 0, 128)), "0: 128x0 3x1");
  EXPECT_EQ(Show(Broadcast(Hbm({3, 2}), 1, 5)), "access.broadcast");
  EXPECT_EQ(Show(Broadcast(Hbm({3, 1}), 1, 0)), "access.broadcast");
  EXPECT_EQ(Show(Broadcast(Hbm({3, 1}), 2, 5)), "access.axis");
  EXPECT_EQ(Show(Broadcast(Tile({1, 3}), 0, 128)),
            "access.broadcast_partition");
}

TEST(Select, DropsItsDimensionExceptThePartitions) {
  EXPECT_EQ(Show(Select(Hbm({2, 3, 4}), -2, -1)), "8: 2x12 4x1");
  EXPECT_EQ(Show(Select(Hbm({2, 3, 4}), 1, 3)), "access.index");
  const auto view = Select(Tile({128, 8}), 0, 5);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->start_partition, 5);
  EXPECT_THAT(view->Shape(), ElementsAre(1, 8));
}

}  // namespace
}  // namespace trnemu
