// Views of the storage itself, and the operand form of views.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/isa/view_helpers.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Reinterpret, RescalesTheLastDimension) {
  const View tile = *Slice(Tile({128, 4, 8}), Indices{Dots(), Sl(2, 6)});
  const auto bytes = Reinterpret(tile, Dtype::kUint8);
  EXPECT_EQ(Show(bytes), "8: 128x0 4x32 16x1");
  EXPECT_EQ(bytes->storage, 128);
  EXPECT_EQ(Show(Reinterpret(*bytes, Dtype::kFloat32)), Show(tile));
  EXPECT_EQ(Show(Reinterpret(*bytes, Dtype::kFloat8E5M2X4)), Show(tile));
  const View column = *Slice(Tile({128, 8}), Indices{Dots(), Sl(3, 4)});
  EXPECT_EQ(Show(Reinterpret(column, Dtype::kBFloat16)), "6: 128x0 2x1");
}

TEST(Reinterpret, RefusesPartsOfElements) {
  const View bytes = Tile({4, 3, 8}, Dtype::kUint8);
  auto cast = [](const absl::StatusOr<View>& view) {
    return Show(Reinterpret(*view, Dtype::kFloat32));
  };
  EXPECT_EQ(cast(bytes), "0: 4x0 3x2 2x1");
  EXPECT_EQ(cast(Slice(bytes, Indices{Dots(), Sl(2, 6)})),
            "access.reinterpret");  // starts inside an element
  EXPECT_EQ(cast(Slice(bytes, Indices{Dots(), Sl(0, 6)})),
            "access.reinterpret");  // ends inside
  EXPECT_EQ(cast(Slice(bytes, Indices{Dots(), Sl({}, {}, 2)})),
            "access.reinterpret");  // not contiguous
  EXPECT_EQ(
      cast(Slice(Tile({4, 3, 6}, Dtype::kUint8), Indices{Dots(), Sl(0, 4)})),
      "access.reinterpret");  // rows start inside an element
}

TEST(AccessPattern, AddressesTheStorage) {
  // nki/guides: a 128 x 512 tile, every second element of its upper half.
  const auto view = AccessPattern(Tile({128, 512}), Dims{{512, 64}, {2, 256}},
                                  64 * 512, Dtype::kFloat32);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->start_partition, 64);
  EXPECT_EQ(Show(*view), "0: 64x0 256x2");
  const auto flat =
      AccessPattern(Hbm({4, 6}), Dims{{0, 128}, {-1, 6}}, 11, Dtype::kFloat32);
  EXPECT_EQ(Show(flat), "11: 128x0 6x-1");
}

TEST(AccessPattern, CountsInElementsOfItsDtype) {
  const auto view = AccessPattern(Tile({128, 512}), Dims{{2048, 128}, {4, 512}},
                                  3, Dtype::kUint8);
  EXPECT_EQ(Show(view), "3: 128x0 512x4");
  EXPECT_EQ(Show(AccessPattern(Tile({128, 512}), Dims{{512, 128}, {4, 512}}, 3,
                               Dtype::kUint8)),
            "access.partition_step");
}

TEST(AccessPattern, RefusesPartitionStepZeroOnChip) {
  for (const int64_t count : {1, 128}) {
    const auto fault = FaultOf(AccessPattern(
        Tile({128, 512}), Dims{{0, count}, {1, 512}}, 0, Dtype::kFloat32));
    EXPECT_EQ(fault.id, "access.partition_step");
    EXPECT_EQ(fault.category, Category::kIllegal);
  }
}

TEST(AccessPattern, ChecksEveryAddress) {
  auto show = [](const Dims& pattern, int64_t offset) {
    return Show(AccessPattern(Tile({4, 6}), pattern, offset, Dtype::kFloat32));
  };
  const std::string outside = "access.pattern_out_of_bounds";
  EXPECT_EQ(show({{6, 4}, {1, 6}}, 0), "0: 4x0 6x1");
  EXPECT_EQ(show({{6, 5}, {1, 6}}, 0), outside);
  EXPECT_EQ(show({{6, 4}, {1, 6}}, 6), outside);
  EXPECT_EQ(show({{6, 4}, {1, 7}}, 0), outside);
  EXPECT_EQ(show({{6, 4}, {1, 6}}, 1), outside);
  EXPECT_EQ(show({{6, 4}, {-1, 6}}, 5), "5: 4x0 6x-1");
  EXPECT_EQ(show({{6, 4}, {-1, 6}}, 4), outside);
  EXPECT_EQ(show({{6, 4}, {-1, 3}, {1, 4}}, 2), "2: 4x0 3x-1 4x1");
  EXPECT_EQ(show({{6, 4}, {kHuge, kHuge}}, 0), outside);
  EXPECT_EQ(show({{6, kHuge}, {1, 1}}, 6), outside);
  EXPECT_EQ(show({{6, 1}, {1, 1}}, -1), outside);
  EXPECT_EQ(show({{6, 4}, {1, 0}}, 0), "access.pattern");
  EXPECT_EQ(show({}, 0), "access.pattern");
  const auto fault =
      FaultOf(AccessPattern(Hbm({4, 6}), Dims{{-6, 5}}, 18, Dtype::kFloat32));
  EXPECT_EQ(fault.category, Category::kOutOfBounds);
  EXPECT_THAT(fault.message, HasSubstr("element -6, outside 0 to 23"));
}

TEST(ToAccess, KeepsFreeDimensionsOnChip) {
  const auto access = ToAccess(Tile({128, 16, 32}));
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access->partitions, 128);
  EXPECT_THAT(access->Shape(), ElementsAre(128, 16, 32));
  EXPECT_EQ(access->size(), 65536);
  EXPECT_EQ(access->free_size(), 512);
  EXPECT_TRUE(access->contiguous());
  EXPECT_EQ(Describe(*access), "sbuf[0:128, 0+16x32,32x1] float32");
}

TEST(ToAccess, RefusesAFifthFreeDimensionAndA129thPartition) {
  EXPECT_TRUE(ToAccess(Tile({128, 2, 2, 2, 2})).ok());
  EXPECT_EQ(FaultOf(ToAccess(Tile({128, 2, 2, 2, 2, 2}))).id,
            "access.too_many_dims");
  EXPECT_EQ(FaultOf(ToAccess(Tile({129, 2}))).id, "access.too_large");
}

TEST(ToAccess, MergesWhatIsContiguousInHbm) {
  const auto whole = ToAccess(Hbm({2, 3, 4, 5, 6, 7, 8}));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(Describe(*whole), "hbm[0+40320x1] float32");
  const auto rows =
      ToAccess(*Slice(Hbm({4, 6, 8}), Indices{Sl(1, {}), Sl(2, 4), At(-1)}));
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(Describe(*rows), "hbm[71+3x48,2x8] float32");
  const auto scalar = ToAccess(Hbm({}));
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(Describe(*scalar), "hbm[0+1x1] float32");
}

TEST(ToAccess, RefusesSixDimensionsThatDoNotMerge) {
  const View x = Hbm({4, 4, 4, 4, 4, 4});
  const Index half = Sl({}, {}, 2);
  EXPECT_TRUE(ToAccess(*Slice(x, Indices(4, half))).ok());
  EXPECT_EQ(FaultOf(ToAccess(*Slice(x, Indices(6, half)))).id,
            "access.too_many_dims");
}

TEST(CheckBounds, AcceptsTheLastElementAndRefusesTheNext) {
  Access access = *ToAccess(Tile({128, 16, 32}));
  EXPECT_TRUE(CheckBounds(access, 512, 128, "t").ok());
  EXPECT_FALSE(CheckBounds(access, 511, 128, "t").ok());
  EXPECT_FALSE(CheckBounds(access, 512, 127, "t").ok());
  access.offset = -1;
  const absl::Status status = CheckBounds(access, 512, 128, "t");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(DiagnosticOf(status).category, Category::kOutOfBounds);
  access.offset = kHuge;
  access.dims[0] = {kHuge, 4000000000};
  EXPECT_FALSE(CheckBounds(access, 512, 128, "t").ok());
}

TEST(Access, ExtentCountsNegativeStepsBelowTheOffset) {
  Access access;
  access.space = Space::kHbm;
  access.rank = 2;
  access.dims[0] = {-8, 3};
  access.dims[1] = {3, 4};
  EXPECT_EQ(access.Extent(), std::pair(int64_t{-16}, int64_t{9}));
  EXPECT_FALSE(access.contiguous());
}

TEST(DescribeShape, LooksLikePython) {
  EXPECT_EQ(DescribeShape(Sizes{}), "()");
  EXPECT_EQ(DescribeShape(Sizes{5}), "(5,)");
  EXPECT_EQ(DescribeShape(Sizes{128, 512}), "(128, 512)");
}

}  // namespace
}  // namespace trnemu
