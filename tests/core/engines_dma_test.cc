#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "core/engines/dma.h"
#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

absl::Status Transfer(Core& core, const Tile& dst, const Tile& src) {
  return core.Run(Opcode::kDmaCopy, Engine::kSync, {dst, src});
}

std::vector<float> Counting(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(SplitDmaTest, GivesEightPartitionsToEachOfSixteenQueues) {
  Core core;
  const Tile dst = core.Sbuf(Dtype::kFloat32, 128, {512});
  const Tile src = core.Hbm(Dtype::kFloat32, {128, 512});
  const std::vector<DmaPart> parts = SplitDma(dst, src, 16);
  ASSERT_EQ(parts.size(), 16u);
  for (int q = 0; q < 16; ++q) {
    EXPECT_EQ(parts[q], (DmaPart{q * 8 * 512, 8 * 512}));
  }
  EXPECT_EQ(SplitDma(src, dst, 16), parts);
}

TEST(SplitDmaTest, FollowsThePartitionsOfTheMemory) {
  Core core;
  const Tile dst = core.Sbuf(Dtype::kFloat32, 12, {10}, 0, 44);
  const Tile src = core.Hbm(Dtype::kFloat32, {120});
  std::vector<DmaPart> parts = SplitDma(dst, src, 16);
  EXPECT_EQ(parts[4].count, 0);
  EXPECT_EQ(parts[5], (DmaPart{0, 40}));   // partitions 44 to 47
  EXPECT_EQ(parts[6], (DmaPart{40, 80}));  // partitions 48 to 55
  EXPECT_EQ(parts[7].count, 0);
  // Four queues have 32 partitions each.
  parts = SplitDma(dst, src, 4);
  EXPECT_THAT(parts, ElementsAre(DmaPart{0, 0}, DmaPart{0, 120},
                                 DmaPart{120, 0}, DmaPart{120, 0}));
}

TEST(SplitDmaTest, SplitsHbmToHbmEvenly) {
  Core core;
  const Tile dst = core.Hbm(Dtype::kFloat32, {10});
  const Tile src = core.Hbm(Dtype::kFloat32, {5, 2});
  EXPECT_THAT(SplitDma(dst, src, 4), ElementsAre(DmaPart{0, 2}, DmaPart{2, 3},
                                                 DmaPart{5, 2}, DmaPart{7, 3}));
  EXPECT_THAT(SplitDma(dst, src, 1), ElementsAre(DmaPart{0, 10}));
}

TEST(DmaTest, TheFlatOrderIsPartitionAfterPartition) {
  Core core;
  const Tile src =
      core.PutFloats(core.Hbm(Dtype::kFloat32, {12}), Counting(12));
  const Tile sbuf = core.Sbuf(Dtype::kFloat32, 3, {2, 2}, 8, 1);
  const Tile psum = core.Psum(Dtype::kFloat32, 4, {3});
  ASSERT_TRUE(Transfer(core, sbuf, src).ok());
  EXPECT_EQ(core.Floats(sbuf), Counting(12));
  ASSERT_TRUE(Transfer(core, psum, sbuf).ok());
  EXPECT_EQ(core.Floats(psum), Counting(12));
  EXPECT_EQ(PsumWriters(psum), 4u);  // kOther
  const Tile out = core.Hbm(Dtype::kFloat32, {2, 6});
  ASSERT_TRUE(Transfer(core, out, psum).ok());
  EXPECT_EQ(core.Floats(out), Counting(12));
}

TEST(DmaTest, SameDtypesMoveBitsAndOthersGoThroughFp32) {
  Core core;
  const Tile src =
      core.Put<int32_t>(core.Hbm(Dtype::kInt32, {2}), {16777217, -1});
  const Tile same = core.Sbuf(Dtype::kInt32, 1, {2});
  const Tile wide = core.Sbuf(Dtype::kUint32, 1, {2}, 64);
  const Tile half = core.Sbuf(Dtype::kBFloat16, 1, {2}, 128);
  ASSERT_TRUE(Transfer(core, same, src).ok());
  ASSERT_TRUE(Transfer(core, wide, src).ok());
  ASSERT_TRUE(Transfer(core, half, src).ok());
  EXPECT_THAT(core.Get<int32_t>(same), ElementsAre(16777217, -1));
  EXPECT_THAT(core.Get<uint32_t>(wide), ElementsAre(16777216, 0));
  EXPECT_THAT(core.Floats(half), ElementsAre(16777216, -1));
}

TEST(DmaTest, AnyStridesMoveElementByElement) {
  Core core;
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    auto pick = [&](int n) { return 1 + static_cast<int64_t>(random() % n); };
    const Dtype dtype = random() % 2 ? Dtype::kInt16 : Dtype::kFloat32;
    const int64_t a = pick(4), b = pick(4), c = pick(4);
    const Tile hbm = core.PutFloats(
        Strided(core.Hbm(dtype, {512}),
                {{b * c + pick(9), a}, {pick(3) * c, b}, {pick(3), c}}),
        Counting(static_cast<size_t>(a * b * c)));
    Tile sbuf = core.Sbuf(Dtype::kFloat32, static_cast<uint32_t>(b), {512});
    sbuf = Strided(sbuf, {{c * 4, a}, {pick(4), c}});
    ASSERT_TRUE(Transfer(core, sbuf, hbm).ok());
    EXPECT_EQ(core.Floats(sbuf), core.Floats(hbm));
    const Tile back = core.Hbm(dtype, {c, a * b});
    ASSERT_TRUE(Transfer(core, back, sbuf).ok());
    EXPECT_EQ(core.Floats(back), core.Floats(hbm));
  }
}

TEST(DmaTest, PartsInAnyOrderGiveTheWholeTransfer) {
  Core core;
  const Tile src =
      core.PutFloats(core.Hbm(Dtype::kFloat32, {128, 20}), Counting(128 * 20));
  const Tile dst = core.Sbuf(Dtype::kBFloat16, 128, {10, 2});
  std::vector<DmaPart> parts = SplitDma(dst, src, 16);
  for (int i = 15; i >= 0; --i) {
    ASSERT_TRUE(ExecuteDmaPart(dst, src, parts[i], *core.state).ok());
    EXPECT_EQ(CheckWritten(dst, "dst").ok(), i == 0);
  }
  const Tile whole = core.Sbuf(Dtype::kBFloat16, 128, {20}, 64);
  ASSERT_TRUE(Transfer(core, whole, src).ok());
  EXPECT_EQ(core.Get<uint16_t>(dst), core.Get<uint16_t>(whole));
}

TEST(DmaTest, APartChecksOnlyWhatItReads) {
  Core core;
  const Tile src = core.Hbm(Dtype::kFloat32, {16, 4});
  MarkWritten(src, 0, 40);
  const Tile dst = core.Sbuf(Dtype::kFloat32, 16, {4});
  const std::vector<DmaPart> parts = SplitDma(dst, src, 16);
  EXPECT_TRUE(ExecuteDmaPart(dst, src, parts[0], *core.state).ok());
  const absl::Status status = ExecuteDmaPart(dst, src, parts[1], *core.state);
  ASSERT_EQ(FaultId(status), "memory.read_unwritten");
  EXPECT_EQ(DiagnosticOf(status).operand, "src");
  EXPECT_EQ(Detail(DiagnosticOf(status), "byte_range"), "[160, 256)");
}

TEST(DmaTest, ABroadcastLoadRepeatsTheSource) {
  Core core;
  const Tile row = core.PutFloats(core.Hbm(Dtype::kFloat32, {3}), {1, 2, 3});
  const Tile src = Strided(row, {{0, 4}, {1, 3}});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 4, {3});
  ASSERT_TRUE(Transfer(core, dst, src).ok());
  EXPECT_THAT(core.Floats(dst),
              ElementsAre(1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3));
}

TEST(DmaTest, ACastOfNanToAnIntegerWarns) {
  Core core;
  const Tile src =
      core.PutFloats(core.Hbm(Dtype::kFloat32, {4}), {1, 2, 3, kNan});
  const Tile dst = core.Sbuf(Dtype::kInt8, 2, {2}, 0, 8);
  ASSERT_TRUE(Transfer(core, dst, src).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(1, 2, 3, 0));
  ASSERT_EQ(core.warnings.size(), 1u);
  EXPECT_EQ(Detail(core.warnings[0], "partition"), "9");
  EXPECT_EQ(Detail(core.warnings[0], "element"), "1");
}

TEST(DmaTest, PackedElementsMoveButAreNotCast) {
  Core core;
  const Tile src =
      core.Put<uint32_t>(core.Hbm(Dtype::kFloat8E5M2X4, {2}), {1, 2});
  EXPECT_TRUE(
      Transfer(core, core.Sbuf(Dtype::kFloat8E5M2X4, 1, {2}), src).ok());
  EXPECT_EQ(FaultId(Transfer(core, core.Sbuf(Dtype::kFloat32, 1, {2}), src)),
            "cast.packed");
}

TEST(DmaShapeTest, CountsThePiecesThatAreContiguousOnBothSides) {
  Core core;
  const Tile sbuf = core.Sbuf(Dtype::kFloat32, 128, {512});
  const Tile hbm = core.Hbm(Dtype::kFloat32, {128, 512});
  const DmaShape shape = ShapeOfDmaPart(sbuf, hbm, {0, 8 * 512});
  EXPECT_EQ(shape.bytes, 16384);
  EXPECT_EQ(shape.rows, 8);
  EXPECT_EQ(shape.row_bytes, 2048);
  EXPECT_EQ(ShapeOfDmaPart(sbuf, hbm, {}).rows, 0);
  // Columns of HBM: every element on its own.
  const Tile columns = Strided(hbm, {{1, 512}, {512, 128}});
  EXPECT_EQ(ShapeOfDmaPart(sbuf, columns, {0, 512}).rows, 512);
  EXPECT_EQ(ShapeOfDmaPart(sbuf, columns, {0, 512}).row_bytes, 4);
  // Pieces of 4 and of 6 elements: breaks at 4 6 8 12 16 18 20.
  const Tile fours = Strided(hbm, {{100, 6}, {1, 4}});
  const Tile sixes = Strided(core.Sbuf(Dtype::kFloat32, 4, {6}), {{1, 6}});
  EXPECT_EQ(ShapeOfDmaPart(sixes, fours, {0, 24}).rows, 8);
  EXPECT_EQ(ShapeOfDmaPart(sixes, fours, {5, 3}).rows, 2);
  EXPECT_EQ(ShapeOfDmaPart(sixes, fours, {0, 24}).row_bytes, 16);
  // The wider side counts.
  const Tile half = core.Sbuf(Dtype::kBFloat16, 128, {512});
  EXPECT_EQ(ShapeOfDmaPart(half, hbm, {0, 512}).bytes, 2048);
}

}  // namespace
}  // namespace trnemu
