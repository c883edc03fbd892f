#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

absl::Status Copy(Core& core, Engine engine, const Tile& dst, const Tile& src) {
  return core.Run(Opcode::kTensorCopy, engine, {dst, src});
}

TEST(TensorCopyTest, SameDtypesMoveBits) {
  Core core;
  const Tile src = core.Put<uint32_t>(core.Sbuf(Dtype::kFloat32, 2, {2}),
                                      {0x7F800001, 1, 0xFFC12345, 0x80000000});
  const Tile dst = core.Psum(Dtype::kFloat32, 2, {2});
  ASSERT_TRUE(Copy(core, Engine::kVector, dst, src).ok());
  EXPECT_THAT(core.Get<uint32_t>(dst),
              ElementsAre(0x7F800001, 1, 0xFFC12345, 0x80000000));
  EXPECT_EQ(PsumWriters(dst), 4u);  // kOther
}

TEST(TensorCopyTest, TheScalarEngineOfTrn1GoesThroughFp32) {
  for (Target target : {Target::kTrn1, Target::kTrn2}) {
    Core core(target);
    const Tile src =
        core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {1}), {16777217});
    const Tile dst = core.Sbuf(Dtype::kInt32, 1, {1}, 64);
    ASSERT_TRUE(Copy(core, Engine::kScalar, dst, src).ok());
    EXPECT_THAT(core.Get<int32_t>(dst),
                ElementsAre(target == Target::kTrn1 ? 16777216 : 16777217));
    ASSERT_TRUE(Copy(core, Engine::kVector, dst, src).ok());
    EXPECT_THAT(core.Get<int32_t>(dst), ElementsAre(16777217));
  }
}

TEST(TensorCopyTest, CastsToIntegersRoundToEvenAndSaturate) {
  Core core;
  const Tile src = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {7}),
                                  {.5, 1.5, 2.5, -.5, -1.5, 3e9, -3e9});
  const Tile i32 = core.Sbuf(Dtype::kInt32, 1, {7}, 64);
  ASSERT_TRUE(Copy(core, Engine::kVector, i32, src).ok());
  EXPECT_THAT(core.Get<int32_t>(i32),
              ElementsAre(0, 2, 2, 0, -2, INT32_MAX, INT32_MIN));
  const Tile src8 = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {4}, 128),
                                   {254.5, 255.5, 300, -1});
  const Tile u8 = core.Sbuf(Dtype::kUint8, 1, {4}, 192);
  ASSERT_TRUE(Copy(core, Engine::kGpsimd, u8, src8).ok());
  EXPECT_THAT(core.Get<uint8_t>(u8), ElementsAre(254, 255, 255, 0));
  EXPECT_TRUE(core.warnings.empty());
}

TEST(TensorCopyTest, ShapesMayDifferAndSourcesMayRepeat) {
  Core core;
  const Tile src =
      Strided(core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {2}), {1, 2, 3, 4}),
              {{0, 2}, {1, 2}});
  const Tile dst = Strided(core.Sbuf(Dtype::kFloat32, 2, {8}, 64), {{2, 4}});
  ASSERT_TRUE(Copy(core, Engine::kVector, dst, src).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
}

TEST(TensorCopyTest, PackedElementsAreCopiedButNotCast) {
  Core core;
  const Tile src =
      core.Put<uint32_t>(core.Sbuf(Dtype::kFloat8E4M3FNX4, 1, {1}), {0xABCDEF});
  const Tile same = core.Sbuf(Dtype::kFloat8E4M3FNX4, 1, {1}, 64);
  const Tile other = core.Sbuf(Dtype::kFloat32, 1, {1}, 128);
  ASSERT_TRUE(Copy(core, Engine::kVector, same, src).ok());
  EXPECT_THAT(core.Get<uint32_t>(same), ElementsAre(0xABCDEF));
  EXPECT_EQ(FaultId(Copy(core, Engine::kVector, other, src)), "cast.packed");
}

absl::Status Fill(Core& core, const Tile& dst, double value) {
  return core.Run(Opcode::kMemset, Engine::kVector, {dst}, {Real(value)});
}

TEST(MemsetTest, WritesTheValueInTheDestinationsDtype) {
  Core core;
  const Tile i32 = core.Sbuf(Dtype::kInt32, 3, {3});
  ASSERT_TRUE(Fill(core, i32, 16777217).ok());
  EXPECT_THAT(core.Get<int32_t>(i32), Each(16777217));
  const Tile u32 = core.Sbuf(Dtype::kUint32, 1, {1}, 64);
  ASSERT_TRUE(Fill(core, u32, 4294967295.0).ok());
  EXPECT_THAT(core.Get<uint32_t>(u32), ElementsAre(4294967295u));
  const Tile bf16 = Strided(core.Sbuf(Dtype::kBFloat16, 2, {6}, 128), {{3, 2}});
  ASSERT_TRUE(Fill(core, bf16, 1.5).ok());
  EXPECT_THAT(core.Get<uint16_t>(bf16), Each(0x3FC0));
  EXPECT_FALSE(CheckWritten(core.Sbuf(Dtype::kBFloat16, 2, {6}, 128), "").ok());
  const Tile x4 = core.Sbuf(Dtype::kFloat4E2M1FNX4, 1, {2}, 256);
  ASSERT_TRUE(Fill(core, x4, 0).ok());
  EXPECT_THAT(core.Get<uint16_t>(x4), Each(0));
}

TEST(VectorTransposeTest, MovesBitsOfAnyWidth) {
  Core core;
  const Tile data = core.Put<uint16_t>(core.Sbuf(Dtype::kBFloat16, 2, {3}),
                                       {1, 0x7F81, 3, 4, 5, 6});
  const Tile dst = core.Sbuf(Dtype::kBFloat16, 3, {2}, 64);
  ASSERT_TRUE(
      core.Run(Opcode::kVectorTranspose, Engine::kVector, {dst, data}).ok());
  EXPECT_THAT(core.Get<uint16_t>(dst), ElementsAre(1, 4, 0x7F81, 5, 3, 6));
}

TEST(VectorTransposeTest, ASquareBlockCanBeTransposedInPlace) {
  Core core;
  std::vector<int32_t> values, expected;
  for (int i = 0; i < 32 * 32; ++i) {
    values.push_back(i);
    expected.push_back(i % 32 * 32 + i / 32);
  }
  const Tile tile = core.Put(core.Sbuf(Dtype::kInt32, 32, {32}), values);
  ASSERT_TRUE(
      core.Run(Opcode::kVectorTranspose, Engine::kVector, {tile, tile}).ok());
  EXPECT_EQ(core.Get<int32_t>(tile), expected);
}

TEST(IotaTest, IsOffsetPlusPartitionPlusPattern) {
  Core core;
  const Tile dst = core.Sbuf(Dtype::kInt32, 2, {2, 3}, 0, 32);
  ASSERT_TRUE(core.Run(Opcode::kIota, Engine::kGpsimd,
                       {dst, Arg::Pattern({{10, 2}, {-1, 3}})},
                       {Integer(5), Integer(100)})
                  .ok());
  EXPECT_THAT(core.Get<int32_t>(dst),
              ElementsAre(5, 4, 3, 15, 14, 13, 105, 104, 103, 115, 114, 113));
}

TEST(IotaTest, WrapsInInt32AndCastsToTheDestination) {
  Core core;
  const Tile wide = core.Sbuf(Dtype::kUint32, 1, {2});
  ASSERT_TRUE(core.Run(Opcode::kIota, Engine::kGpsimd,
                       {wide, Arg::Pattern({{1, 2}})},
                       {Integer(INT32_MAX), Integer(0)})
                  .ok());
  EXPECT_THAT(core.Get<uint32_t>(wide), ElementsAre(0x7FFFFFFF, 0x80000000));
  const Tile fp32 = core.Sbuf(Dtype::kFloat32, 1, {2}, 64);
  ASSERT_TRUE(core.Run(Opcode::kIota, Engine::kGpsimd,
                       {fp32, Arg::Pattern({{1, 2}})},
                       {Integer(16777217), Integer(0)})
                  .ok());
  EXPECT_THAT(core.Floats(fp32), ElementsAre(16777216, 16777218));
  const Tile bytes = Strided(core.Sbuf(Dtype::kUint8, 1, {8}, 128), {{2, 4}});
  ASSERT_TRUE(core.Run(Opcode::kIota, Engine::kGpsimd,
                       {bytes, Arg::Pattern({{1, 4}})},
                       {Integer(253), Integer(0)})
                  .ok());
  EXPECT_THAT(core.Get<uint8_t>(bytes), ElementsAre(253, 254, 255, 255));
}

// The mask of a 3 x 3 tile by `p - x  compare  0`.
std::vector<float> Select(Core& core, const Tile& dst, const Tile& source,
                          AluOp compare, double on_false) {
  EXPECT_TRUE(core.Run(Opcode::kAffineSelect, Engine::kGpsimd,
                       {dst, Arg::Pattern({{-1, 3}}), source},
                       {Integer(1), Real(on_false), Of(compare), Integer(0)})
                  .ok());
  return core.Floats(dst);
}

TEST(AffineSelectTest, HasAllSixComparisons) {
  Core core;
  const Tile source = core.PutFloats(core.Sbuf(Dtype::kFloat32, 3, {3}), {1});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 3, {3}, 64);
  EXPECT_THAT(Select(core, dst, source, AluOp::kGreaterEqual, 0),
              ElementsAre(1, 0, 0, 1, 1, 0, 1, 1, 1));
  EXPECT_THAT(Select(core, dst, source, AluOp::kGreater, 0),
              ElementsAre(0, 0, 0, 1, 0, 0, 1, 1, 0));
  EXPECT_THAT(Select(core, dst, source, AluOp::kLessEqual, 0),
              ElementsAre(1, 1, 1, 0, 1, 1, 0, 0, 1));
  EXPECT_THAT(Select(core, dst, source, AluOp::kLess, 0),
              ElementsAre(0, 1, 1, 0, 0, 1, 0, 0, 0));
  EXPECT_THAT(Select(core, dst, source, AluOp::kEqual, 0),
              ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_THAT(Select(core, dst, source, AluOp::kNotEqual, 0),
              ElementsAre(0, 1, 1, 1, 0, 1, 1, 1, 0));
}

TEST(AffineSelectTest, MovesBitsOfTheSameDtypeAndCastsOthers) {
  Core core;
  const Tile source =
      core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 3, {3}), {16777217});
  const Tile same = core.Sbuf(Dtype::kInt32, 3, {3}, 64);
  const Tile other = core.Sbuf(Dtype::kUint32, 3, {3}, 128);
  Select(core, same, source, AluOp::kEqual, -2.5);
  EXPECT_THAT(
      core.Get<int32_t>(same),
      ElementsAre(16777217, -2, -2, -2, 16777217, -2, -2, -2, 16777217));
  Select(core, other, source, AluOp::kEqual, -2.5);
  EXPECT_THAT(core.Get<uint32_t>(other),
              ElementsAre(16777216, 0, 0, 0, 16777216, 0, 0, 0, 16777216));
}

TEST(AffineSelectTest, WorksInPlaceAndWarnsOfNanInIntegers) {
  Core core;
  const Tile tile = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 3, {3}),
                                   {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(Select(core, tile, tile, AluOp::kGreaterEqual, -1024),
              ElementsAre(1, -1024, -1024, 4, 5, -1024, 7, 8, 9));
  const Tile bytes = core.PutFloats(core.Sbuf(Dtype::kInt8, 3, {3}, 64), {1});
  EXPECT_THAT(Select(core, bytes, bytes, AluOp::kEqual, kNan),
              ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1));
  ASSERT_EQ(core.warnings.size(), 1u);
  EXPECT_EQ(core.warnings[0].id, "cast.nan_to_integer");
}

}  // namespace
}  // namespace trnemu
