#include "core/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/shadow.h"
#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;

std::vector<ptrdiff_t> OffsetsOf(const Layout& layout, int64_t first,
                                 int64_t count) {
  std::vector<ptrdiff_t> offsets;
  ForEachRun(layout, first, count, [&](ptrdiff_t at, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) offsets.push_back(at + i * layout.step());
  });
  return offsets;
}

TEST(LayoutTest, ContiguousDimensionsBecomeOneRun) {
  Core core;
  const Tile tile = core.Sbuf(Dtype::kFloat32, 4, {2, 1, 3, 5});
  const Layout row = RowLayout(tile);
  EXPECT_EQ(row.rank, 1);
  EXPECT_EQ(row.run(), 30);
  EXPECT_EQ(row.step(), 4);
  EXPECT_TRUE(row.contiguous(4));
  EXPECT_EQ(FlatLayout(tile).rank, 2);
}

TEST(LayoutTest, ATileOfOneElementIsARunOfOne) {
  Core core;
  const Tile tile = core.Sbuf(Dtype::kFloat32, 1, {1, 1});
  EXPECT_EQ(FlatLayout(tile).rank, 1);
  EXPECT_EQ(FlatLayout(tile).run(), 1);
  EXPECT_TRUE(RowLayout(tile).contiguous(4));
}

TEST(LayoutTest, RunsVisitTheElementsInTheOrderOfNestedLoops) {
  Core core;
  const Tile tile = Strided(core.Sbuf(Dtype::kUint8, 1, {1000}),
                            {{100, 2}, {0, 2}, {7, 3}, {-1, 2}}, 10);
  std::vector<ptrdiff_t> expected;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 2; ++d) expected.push_back(100 * a + 7 * c - d);
  EXPECT_EQ(OffsetsOf(FlatLayout(tile), 0, 24), expected);
}

TEST(LayoutTest, AnyRangeIsTheSameSliceOfTheWhole) {
  Core core;
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    auto pick = [&](int n) { return static_cast<int64_t>(random() % n); };
    Tile tile =
        core.Sbuf(Dtype::kInt16, static_cast<uint32_t>(1 + pick(3)), {4096});
    tile = Strided(tile, {{pick(200), 1 + pick(3)},
                          {pick(20), 1 + pick(4)},
                          {pick(3), 1 + pick(5)}});
    const Layout layout = FlatLayout(tile);
    const int64_t size = tile.partitions * tile.free_size;
    const std::vector<ptrdiff_t> all = OffsetsOf(layout, 0, size);
    const int64_t first = pick(static_cast<int>(size));
    const int64_t count = pick(static_cast<int>(size - first + 1));
    const std::vector<ptrdiff_t> part(all.begin() + first,
                                      all.begin() + first + count);
    EXPECT_EQ(OffsetsOf(layout, first, count), part);
  }
}

TEST(ShadowTest, NamesTheFirstUnwrittenPartitionAndBytes) {
  Core core;
  const Tile all = core.Sbuf(Dtype::kFloat32, 128, {8}, 64);
  Tile most = all;
  most.partitions = 127;
  MarkWritten(most);
  const absl::Status status = CheckWritten(all, "data");
  ASSERT_FALSE(status.ok());
  const Diagnostic d = DiagnosticOf(status);
  EXPECT_EQ(d.category, Category::kUninitialized);
  EXPECT_EQ(d.id, "memory.read_unwritten");
  EXPECT_EQ(d.operand, "data");
  EXPECT_EQ(Detail(d, "partition"), "127");
  EXPECT_EQ(Detail(d, "byte_range"), "[64, 96)");
  EXPECT_EQ(Detail(d, "unwritten_elements"), "8");
  EXPECT_EQ(d.message,
            "data reads bytes 64 to 95 of partition 127 of sbuf, which "
            "nothing has written in this run");
  EXPECT_TRUE(CheckWritten(most, "data").ok());
}

TEST(ShadowTest, OneMissingByteOfAnElementIsFound) {
  for (Dtype dtype : {Dtype::kUint8, Dtype::kBFloat16, Dtype::kInt32}) {
    const int64_t size = static_cast<int64_t>(SizeOf(dtype));
    for (int64_t step : {1, 3}) {
      Core core;
      const Tile tile = Strided(core.Sbuf(dtype, 2, {64}), {{step, 20}});
      MarkWritten(tile);
      EXPECT_TRUE(CheckWritten(tile, "data").ok());
      const ptrdiff_t hole = tile.partition_stride + 13 * step * size;
      tile.shadow.Clear(hole + size - 1, 1);
      const absl::Status status = CheckWritten(tile, "data");
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(Detail(DiagnosticOf(status), "partition"), "1");
      EXPECT_EQ(Detail(DiagnosticOf(status), "element"), "13");
    }
  }
}

TEST(ShadowTest, AStridedWriteLeavesTheGapsUnwritten) {
  Core core;
  const Tile row = core.Sbuf(Dtype::kInt16, 1, {8});
  MarkWritten(Strided(row, {{2, 4}}));
  std::vector<int> shadow;
  for (int byte = 0; byte < 16; ++byte) shadow.push_back(row.shadow[byte]);
  EXPECT_THAT(shadow,
              ElementsAre(1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0));
  EXPECT_FALSE(CheckWritten(row, "data").ok());
  EXPECT_TRUE(CheckWritten(Strided(row, {{4, 2}}), "data").ok());
}

TEST(ShadowTest, PsumStateFollowsWhoWroteLast) {
  Core core;
  const Tile row = core.Psum(Dtype::kFloat32, 2, {8});
  EXPECT_EQ(PsumWriters(row), 1u);  // kNothing
  MarkPsum(Strided(row, {{2, 4}}), PsumWriter::kMatmul);
  EXPECT_EQ(PsumWriters(row), 3u);
  EXPECT_EQ(PsumWriters(Strided(row, {{2, 4}})), 2u);
  EXPECT_EQ(PsumWriterAt(row, 1, 8), PsumWriter::kMatmul);
  EXPECT_EQ(PsumWriterAt(row, 1, 4), PsumWriter::kNothing);
  MarkPsum(row, PsumWriter::kOther, 9, 2);  // elements 1 and 2 of partition 1
  EXPECT_EQ(PsumWriterAt(row, 1, 8), PsumWriter::kOther);
  EXPECT_EQ(PsumWriterAt(row, 0, 8), PsumWriter::kMatmul);
}

TEST(ShadowTest, SingleBytesShareAnEntryOfPsumState) {
  Core core;
  const Tile odd = core.Psum(Dtype::kUint8, 1, {3}, 5);
  MarkPsum(odd, PsumWriter::kOther);  // bytes 5, 6, 7: entries 2 and 3
  const Tile halves = core.Psum(Dtype::kBFloat16, 1, {6});
  EXPECT_EQ(PsumWriterAt(halves, 0, 2), PsumWriter::kNothing);
  EXPECT_EQ(PsumWriterAt(halves, 0, 4), PsumWriter::kOther);
  EXPECT_EQ(PsumWriterAt(halves, 0, 6), PsumWriter::kOther);
  EXPECT_EQ(PsumWriterAt(halves, 0, 8), PsumWriter::kNothing);
}

}  // namespace
}  // namespace trnemu
