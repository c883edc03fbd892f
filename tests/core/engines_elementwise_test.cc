#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/engines/rows.h"
#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// op0, reverse0, op1, reverse1.
std::vector<Attribute> TwoOps(AluOp op0, bool reverse0 = false,
                              AluOp op1 = AluOp::kNone, bool reverse1 = false) {
  return {Of(op0), Boolean(reverse0), Of(op1), Boolean(reverse1)};
}

absl::Status TensorTensor(Core& core, Engine engine, const Tile& dst,
                          const Tile& a, const Tile& b, AluOp op) {
  return core.Run(Opcode::kTensorTensor, engine, {dst, a, b}, {Of(op)});
}

TEST(TensorTensorTest, VectorAddsIntegersInFp32AndGpsimdExactly) {
  Core core;
  const Tile a =
      core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 2, {3}), {16777217});
  const Tile b = core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 2, {3}, 64), {0});
  const Tile dst = core.Sbuf(Dtype::kInt32, 2, {3}, 128);
  ASSERT_TRUE(TensorTensor(core, Engine::kVector, dst, a, b, AluOp::kAdd).ok());
  EXPECT_THAT(core.Get<int32_t>(dst), Each(16777216));
  ASSERT_TRUE(TensorTensor(core, Engine::kGpsimd, dst, a, b, AluOp::kAdd).ok());
  EXPECT_THAT(core.Get<int32_t>(dst), Each(16777217));
}

TEST(TensorTensorTest, GpsimdIntegersWrapAndCompareBySign) {
  Core core;
  const Tile a =
      core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {2}), {INT32_MAX, -1});
  const Tile b = core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {2}, 64), {1});
  const Tile dst = core.Sbuf(Dtype::kInt32, 1, {2}, 128);
  auto run = [&](AluOp op) {
    EXPECT_TRUE(TensorTensor(core, Engine::kGpsimd, dst, a, b, op).ok());
    return core.Get<int32_t>(dst);
  };
  EXPECT_THAT(run(AluOp::kAdd), ElementsAre(INT32_MIN, 0));
  EXPECT_THAT(run(AluOp::kMaximum), ElementsAre(INT32_MAX, 1));
  EXPECT_THAT(run(AluOp::kLess), ElementsAre(0, 1));
  Tile unsigned_a = a;
  unsigned_a.dtype = Dtype::kUint32;
  ASSERT_TRUE(
      TensorTensor(core, Engine::kGpsimd, dst, unsigned_a, b, AluOp::kLess)
          .ok());
  EXPECT_THAT(core.Get<int32_t>(dst), ElementsAre(0, 0));
}

TEST(TensorTensorTest, GpsimdWithAFloatOperandGoesThroughFp32) {
  Core core;
  const Tile a =
      core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {1}), {16777217});
  const Tile b = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {1}, 64), {0});
  const Tile dst = core.Sbuf(Dtype::kInt32, 1, {1}, 128);
  ASSERT_TRUE(TensorTensor(core, Engine::kGpsimd, dst, a, b, AluOp::kAdd).ok());
  EXPECT_THAT(core.Get<int32_t>(dst), ElementsAre(16777216));
}

TEST(TensorTensorTest, IntegerMaximumThroughVectorSaturatesByDestination) {
  Core core;
  const Tile a =
      core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {1}), {0x7FFFFFFF});
  const Tile b = core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {1}, 64), {0});
  const Tile u = core.Sbuf(Dtype::kUint32, 1, {1}, 128);
  const Tile i = core.Sbuf(Dtype::kInt32, 1, {1}, 192);
  ASSERT_TRUE(TensorTensor(core, Engine::kVector, u, a, b, AluOp::kAdd).ok());
  ASSERT_TRUE(TensorTensor(core, Engine::kVector, i, a, b, AluOp::kAdd).ok());
  EXPECT_THAT(core.Get<uint32_t>(u), ElementsAre(2147483648u));
  EXPECT_THAT(core.Get<int32_t>(i), ElementsAre(2147483647));
}

TEST(TensorTensorTest, BitvecOperationsOnVectorKeepEveryBit) {
  Core core;
  const Tile a = core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {2}),
                                   {16777217, 0x7FFFFFFF});
  const Tile b =
      core.Put<uint32_t>(core.Sbuf(Dtype::kInt32, 1, {2}, 64), {0xFFFFFFFF});
  const Tile dst = core.Sbuf(Dtype::kInt32, 1, {2}, 128);
  ASSERT_TRUE(
      TensorTensor(core, Engine::kVector, dst, a, b, AluOp::kBitwiseAnd).ok());
  EXPECT_THAT(core.Get<int32_t>(dst), ElementsAre(16777217, 0x7FFFFFFF));
}

TEST(TensorTensorTest, BitvecOperationsZeroExtendNarrowerOperands) {
  Core core;
  const Tile a = core.Put<int8_t>(core.Sbuf(Dtype::kInt8, 1, {3}), {-1, 1, 1});
  const Tile b =
      core.Put<int32_t>(core.Sbuf(Dtype::kInt32, 1, {3}, 64), {0x100, 8, 32});
  const Tile dst = core.Sbuf(Dtype::kInt32, 1, {3}, 128);
  ASSERT_TRUE(
      TensorTensor(core, Engine::kVector, dst, a, b, AluOp::kBitwiseOr).ok());
  EXPECT_THAT(core.Get<int32_t>(dst), ElementsAre(0x1FF, 9, 33));
  ASSERT_TRUE(
      TensorTensor(core, Engine::kVector, dst, a, b, AluOp::kLeftShift).ok());
  EXPECT_THAT(core.Get<int32_t>(dst), ElementsAre(0, 256, 0));
}

TEST(TensorTensorTest, StridesAndDtypesMayDifferBetweenOperands) {
  Core core;
  // data1: bf16 columns 1, 3, 5 of PSUM; data2: int16 reversed; dst: fp16.
  const Tile a =
      core.PutFloats(Strided(core.Psum(Dtype::kBFloat16, 2, {8}), {{2, 3}}, 1),
                     {1, 2, 3, 10, 20, 30});
  const Tile b = core.PutFloats(
      Strided(core.Sbuf(Dtype::kInt16, 2, {3}), {{-1, 3}}, 2), {100, 200, 300});
  const Tile dst =
      Strided(core.Sbuf(Dtype::kFloat16, 2, {16}, 64), {{8, 1}, {4, 3}});
  ASSERT_TRUE(
      TensorTensor(core, Engine::kVector, dst, a, b, AluOp::kSubtract).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(-99, -198, -297, -90, -180, -270));
  EXPECT_TRUE(CheckWritten(dst, "dst").ok());
}

TEST(TensorTensorTest, InPlaceUseOfEitherOperandWorks) {
  for (Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kInt32}) {
    for (bool second : {false, true}) {
      Core core;
      const Tile a = core.PutFloats(core.Sbuf(dtype, 3, {5}), {7, 8, 9});
      const Tile b = core.PutFloats(core.Sbuf(dtype, 3, {5}, 64), {1, 2});
      std::vector<float> expected;
      const std::vector<float> x = core.Floats(a), y = core.Floats(b);
      for (size_t i = 0; i < x.size(); ++i) expected.push_back(x[i] - y[i]);
      const Tile dst = second ? b : a;
      ASSERT_TRUE(
          TensorTensor(core, Engine::kVector, dst, a, b, AluOp::kSubtract)
              .ok());
      EXPECT_THAT(core.Floats(dst), ElementsAreArray(expected));
    }
  }
}

TEST(TensorTensorTest, APartlyOverlappingDestinationReadsTheRowFirst) {
  Core core;
  const Tile row =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {5}), {1, 2, 3, 4, 5});
  const Tile a = Strided(row, {{1, 4}});
  const Tile dst = Strided(row, {{1, 4}}, 1);
  ASSERT_TRUE(TensorTensor(core, Engine::kVector, dst, a, a, AluOp::kAdd).ok());
  EXPECT_THAT(core.Floats(row), ElementsAre(1, 2, 4, 6, 8));
}

TEST(TensorTensorTest, OverlappingPartitionsAreAlwaysTakenInTheirOrder) {
  Core core;
  for (int time = 0; time < 2; ++time) {  // others alternate
    const Tile all =
        core.PutFloats(core.Sbuf(Dtype::kFloat32, 4, {1}), {1, 5, 6, 7});
    const Tile a = core.Sbuf(Dtype::kFloat32, 3, {1});
    const Tile dst = core.Sbuf(Dtype::kFloat32, 3, {1}, 0, 1);
    ASSERT_TRUE(
        TensorTensor(core, Engine::kVector, dst, a, a, AluOp::kAdd).ok());
    EXPECT_THAT(core.Floats(all), ElementsAre(1, 2, 4, 8));
  }
}

TEST(TensorTensorTest, Bfloat16RowsEqualTheGeneralPath) {
  Core core;
  std::mt19937 random(3);
  std::vector<float> x, y;
  for (int i = 0; i < 300; ++i) {
    x.push_back(std::ldexp(static_cast<float>(random() % 1000) - 500, -5));
    y.push_back(std::ldexp(static_cast<float>(random() % 1000) - 500, 3));
  }
  for (AluOp op : {AluOp::kAdd, AluOp::kMultiply, AluOp::kMaximum}) {
    const Tile a = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 3, {100}), x);
    const Tile b =
        core.PutFloats(core.Sbuf(Dtype::kBFloat16, 3, {100}, 512), y);
    const Tile fast = core.Sbuf(Dtype::kBFloat16, 3, {100}, 1024);
    const Tile slow =
        Strided(core.Sbuf(Dtype::kBFloat16, 3, {200}, 2048), {{2, 100}});
    ASSERT_TRUE(TensorTensor(core, Engine::kVector, fast, a, b, op).ok());
    ASSERT_TRUE(TensorTensor(core, Engine::kVector, slow, a, b, op).ok());
    EXPECT_EQ(core.Get<uint16_t>(fast), core.Get<uint16_t>(slow));
  }
}

TEST(TensorTensorTest, ANanCastToAnIntegerIsZeroAndOneWarning) {
  Core core;
  const Tile a = core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {3}, 0, 32),
                                {1, 2, 3, 4, kNan, kNan});
  const Tile dst = core.Sbuf(Dtype::kInt32, 2, {3}, 64, 32);
  ASSERT_TRUE(TensorTensor(core, Engine::kVector, dst, a, a, AluOp::kAdd).ok());
  EXPECT_THAT(core.Get<int32_t>(dst), ElementsAre(2, 4, 6, 8, 0, 0));
  ASSERT_EQ(core.warnings.size(), 1u);
  EXPECT_EQ(core.warnings[0].id, "cast.nan_to_integer");
  EXPECT_EQ(core.warnings[0].category, Category::kUnspecified);
  EXPECT_EQ(core.warnings[0].severity, Severity::kWarning);
  EXPECT_EQ(Detail(core.warnings[0], "partition"), "33");
  EXPECT_EQ(Detail(core.warnings[0], "element"), "1");
}

TEST(TensorTensorTest, PowerIsExactForSmallIntegers) {
  Core core;
  const Tile a = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {3}), {2, 3, 9});
  const Tile b =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {3}, 64), {10, 4, 0.5});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {3}, 128);
  ASSERT_TRUE(
      TensorTensor(core, Engine::kGpsimd, dst, a, b, AluOp::kPower).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(1024, 81, 3));
}

TEST(TensorScalarTest, TwoOperationsRoundSeparatelyAndReverseSwaps) {
  Core core;
  const Tile data =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {2}), {1, 2, 3, 4});
  const Tile column =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {1}, 64), {10, 20});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 2, {2}, 128);
  ASSERT_TRUE(core.Run(Opcode::kTensorScalar, Engine::kVector,
                       {dst, data, column, 1.0},
                       TwoOps(AluOp::kMultiply, false, AluOp::kSubtract, true))
                  .ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(-9, -19, -59, -79));
  // 1 + 2^-22 squared minus 1: a fused operation would keep 2^-44.
  core.PutFloats(data, {1 + 0x1p-22f});
  ASSERT_TRUE(core.Run(Opcode::kTensorScalar, Engine::kVector,
                       {dst, data, 1 + 0x1p-22, 1.0},
                       TwoOps(AluOp::kMultiply, false, AluOp::kSubtract))
                  .ok());
  EXPECT_THAT(core.Floats(dst), Each(0x1p-21f));
}

TEST(TensorScalarTest, AColumnThatIsTheDestinationIsReadFirst) {
  Core core;
  const Tile data = core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {1}), {3, 4});
  const Tile column =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {1}, 64), {10, 20});
  ASSERT_TRUE(core.Run(Opcode::kTensorScalar, Engine::kVector,
                       {column, data, 2.0, column},
                       TwoOps(AluOp::kMultiply, false, AluOp::kAdd))
                  .ok());
  EXPECT_THAT(core.Floats(column), ElementsAre(16, 28));
}

TEST(TensorScalarTest, UnaryOperationsTakeNoOperand) {
  Core core;
  const Tile data = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {2}), {4, 16});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {2}, 64);
  ASSERT_TRUE(core.Run(Opcode::kTensorScalar, Engine::kGpsimd,
                       {dst, data, Arg::Absent(), Arg::Absent()},
                       TwoOps(AluOp::kRsqrt))
                  .ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(0.5, 0.25));
}

TEST(TensorScalarTest, BitvecNumbersKeepAll32Bits) {
  Core core;
  const Tile data = core.Put<uint32_t>(core.Sbuf(Dtype::kUint32, 1, {2}),
                                       {0xFFFFFFFF, 0x01000001});
  const Tile dst = core.Sbuf(Dtype::kUint32, 1, {2}, 64);
  ASSERT_TRUE(core.Run(Opcode::kTensorScalar, Engine::kVector,
                       {dst, data, 16777217.0, 1.0},
                       TwoOps(AluOp::kBitwiseAnd, false, AluOp::kLeftShift))
                  .ok());
  EXPECT_THAT(core.Get<uint32_t>(dst), ElementsAre(0x02000002, 0x02000002));
  ASSERT_TRUE(core.Run(Opcode::kTensorScalar, Engine::kVector,
                       {dst, data, -1.0, Arg::Absent()},
                       TwoOps(AluOp::kBitwiseXor))
                  .ok());
  EXPECT_THAT(core.Get<uint32_t>(dst), ElementsAre(0, 0xFEFFFFFE));
}

TEST(TensorScalarTest, BitvecOperationsWorkOnStridedBytes) {
  Core core;
  const Tile data = core.Put<uint8_t>(
      Strided(core.Sbuf(Dtype::kUint8, 2, {8}), {{2, 3}}), {1, 2, 0x80});
  const Tile column =
      core.Put<uint8_t>(core.Sbuf(Dtype::kUint8, 2, {1}, 64), {1, 9});
  const Tile dst = core.Sbuf(Dtype::kUint8, 2, {3}, 128);
  ASSERT_TRUE(core.Run(Opcode::kTensorScalar, Engine::kVector,
                       {dst, data, column, Arg::Absent()},
                       TwoOps(AluOp::kLeftShift))
                  .ok());
  EXPECT_THAT(core.Get<uint8_t>(dst), ElementsAre(2, 4, 0, 0, 0, 0));
}

TEST(ScalarTensorTensorTest, AppliesTheColumnThenTheTile) {
  Core core;
  const Tile data =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {2}), {1, 2, 3, 4});
  const Tile column =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {1}, 64), {10, 20});
  const Tile acc =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {2}, 128), {1, 1, 2, 2});
  ASSERT_TRUE(core.Run(Opcode::kScalarTensorTensor, Engine::kVector,
                       {acc, data, column, acc},
                       TwoOps(AluOp::kMultiply, false, AluOp::kSubtract, true))
                  .ok());
  EXPECT_THAT(core.Floats(acc), ElementsAre(-9, -19, -58, -78));
}

TEST(ReciprocalTest, IsTheNearestFp32) {
  Core core;
  const Tile data =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {4}), {3, 4, 0, -0.0f});
  const Tile dst = core.Psum(Dtype::kFloat32, 1, {4});
  ASSERT_TRUE(core.Run(Opcode::kReciprocal, Engine::kVector, {dst, data}).ok());
  EXPECT_THAT(core.Floats(dst),
              ElementsAre(1.0f / 3, 0.25, INFINITY, -INFINITY));
  EXPECT_EQ(PsumWriters(dst), 4u);  // kOther
}

TEST(TensorReduceTest, ReducesTrailingDimensionsInOrder) {
  Core core;
  const Tile data = core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {2, 3}),
                                   {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  const Tile rows = core.Sbuf(Dtype::kFloat32, 2, {2}, 64);
  const Tile all = core.Sbuf(Dtype::kInt32, 2, {1}, 128);
  auto attributes = [](AluOp op, int64_t axes, bool negate) {
    return std::vector<Attribute>{Of(op), Integer(axes), Boolean(negate),
                                  Boolean(false)};
  };
  auto run = [&](const Tile& dst, AluOp op, int64_t axes, bool negate) {
    EXPECT_TRUE(core.Run(Opcode::kTensorReduce, Engine::kVector, {dst, data},
                         attributes(op, axes, negate))
                    .ok());
    return core.Floats(dst);
  };
  EXPECT_THAT(run(rows, AluOp::kAdd, 1, false), ElementsAre(6, 15, 60, 150));
  EXPECT_THAT(run(all, AluOp::kAdd, 2, true), ElementsAre(-21, -210));
  EXPECT_THAT(run(rows, AluOp::kSubtract, 1, false),
              ElementsAre(-4, -7, -40, -70));
  EXPECT_THAT(run(rows, AluOp::kMaximum, 1, false), ElementsAre(3, 6, 30, 60));
  EXPECT_THAT(run(rows, AluOp::kLogicalAnd, 1, false), Each(1));
}

TEST(TensorReduceTest, SumsAreSequentialInFp32BeforeTheCast) {
  Core core;
  // 2^24 + 1 + 1 + ... stays 2^24 in an ascending chain.
  std::vector<float> x(1000, 1.0f);
  x[0] = 16777216;
  const Tile data = core.PutFloats(core.Sbuf(Dtype::kFloat32, 40, {1000}), x);
  const Tile dst = core.Sbuf(Dtype::kFloat32, 40, {1}, 8192);
  const std::vector<Attribute> add = {Of(AluOp::kAdd), Integer(1),
                                      Boolean(false), Boolean(false)};
  ASSERT_TRUE(
      core.Run(Opcode::kTensorReduce, Engine::kVector, {dst, data}, add).ok());
  EXPECT_THAT(core.Floats(dst), Each(16777216));
  // 256 + 257 bf16 ones are 513 in fp32 and 512 only in the final cast.
  const Tile ones = core.PutFloats(
      Strided(core.Sbuf(Dtype::kBFloat16, 3, {1100}, 16384), {{2, 513}}), {1});
  const Tile half = core.Sbuf(Dtype::kBFloat16, 3, {1}, 32768);
  ASSERT_TRUE(
      core.Run(Opcode::kTensorReduce, Engine::kVector, {half, ones}, add).ok());
  EXPECT_THAT(core.Floats(half), Each(512));
}

TEST(TensorReduceTest, ReducesDimensionsThatAPermutedViewPutLast) {
  Core core;
  const Tile row =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {6}), {1, 2, 3, 4, 5, 6});
  const Tile columns = Strided(row, {{1, 3}, {3, 2}});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {3}, 64);
  ASSERT_TRUE(
      core.Run(Opcode::kTensorReduce, Engine::kVector, {dst, columns},
               {Of(AluOp::kAdd), Integer(1), Boolean(false), Boolean(false)})
          .ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(5, 7, 9));
}

TEST(TensorReduceTest, BitvecReductionsSeeBits) {
  Core core;
  const Tile data = core.Put<uint32_t>(core.Sbuf(Dtype::kUint32, 1, {2, 2}),
                                       {0x01000001, 1, 0xFFFFFFFF, 0x7});
  const Tile dst = core.Sbuf(Dtype::kUint32, 1, {2}, 64);
  auto run = [&](AluOp op) {
    EXPECT_TRUE(core.Run(Opcode::kTensorReduce, Engine::kVector, {dst, data},
                         {Of(op), Integer(1), Boolean(false), Boolean(false)})
                    .ok());
    return core.Get<uint32_t>(dst);
  };
  EXPECT_THAT(run(AluOp::kBitwiseOr), ElementsAre(0x01000001, 0xFFFFFFFF));
  EXPECT_THAT(run(AluOp::kBitwiseAnd), ElementsAre(1, 7));
  EXPECT_THAT(run(AluOp::kBitwiseXor), ElementsAre(0x01000000, 0xFFFFFFF8));
}

TEST(TensorReduceTest, MoreChainsThanOneBlockHolds) {
  Core core;
  std::vector<float> x;
  for (int i = 0; i < 35 * 90 * 3; ++i) x.push_back(static_cast<float>(i % 11));
  const Tile data = core.PutFloats(core.Sbuf(Dtype::kInt8, 35, {90, 3}), x);
  const Tile dst = core.Sbuf(Dtype::kFloat32, 35, {90}, 512);
  ASSERT_TRUE(
      core.Run(Opcode::kTensorReduce, Engine::kVector, {dst, data},
               {Of(AluOp::kAdd), Integer(1), Boolean(false), Boolean(false)})
          .ok());
  const std::vector<float> sums = core.Floats(dst);
  for (size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], x[3 * i] + x[3 * i + 1] + x[3 * i + 2]);
  }
}

TEST(MayOverlapTest, ComparesBytesWithinThePartition) {
  Core core;
  const Tile a = core.Sbuf(Dtype::kFloat32, 32, {4}, 16);
  EXPECT_TRUE(MayOverlap(a, a));
  EXPECT_TRUE(MayOverlap(a, core.Sbuf(Dtype::kFloat32, 32, {4}, 28)));
  EXPECT_TRUE(MayOverlap(a, core.Sbuf(Dtype::kUint8, 32, {17}, 0)));
  EXPECT_FALSE(MayOverlap(a, core.Sbuf(Dtype::kFloat32, 32, {4}, 32)));
  EXPECT_FALSE(MayOverlap(a, core.Sbuf(Dtype::kFloat32, 32, {4}, 0)));
  EXPECT_FALSE(MayOverlap(a, core.Psum(Dtype::kFloat32, 32, {4}, 16)));
  const Tile backwards =
      Strided(core.Sbuf(Dtype::kFloat32, 32, {8}, 32), {{-1, 3}});
  EXPECT_TRUE(MayOverlap(a, backwards));  // bytes 24 to 35
}

TEST(EngineChecksTest, AReadOfUnwrittenBytesNamesOperandAndPartition) {
  Core core;
  const Tile all = core.Sbuf(Dtype::kInt8, 128, {4});
  Tile most = all;
  most.partitions = 127;
  core.PutFloats(most, {1});
  const Tile other = core.PutFloats(core.Sbuf(Dtype::kInt8, 128, {4}, 64), {1});
  const Tile dst = core.Sbuf(Dtype::kInt8, 128, {4}, 128);
  const absl::Status status =
      TensorTensor(core, Engine::kVector, dst, other, all, AluOp::kAdd);
  ASSERT_EQ(FaultId(status), "memory.read_unwritten");
  EXPECT_EQ(DiagnosticOf(status).operand, "data2");
  EXPECT_EQ(Detail(DiagnosticOf(status), "partition"), "127");
  EXPECT_EQ(Detail(DiagnosticOf(status), "byte_range"), "[0, 4)");
  core.state->check_memory = false;
  EXPECT_TRUE(
      TensorTensor(core, Engine::kVector, dst, other, all, AluOp::kAdd).ok());
}

TEST(EngineChecksTest, AnAllowedReadOfUnwrittenBytesIsReportedAndGoesOn) {
  Core core;
  const std::vector<std::string> allow = {"memory.read_unwritten"};
  core.state->allow = allow;
  const Tile a = core.Sbuf(Dtype::kFloat32, 1, {2});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {2}, 64);
  EXPECT_TRUE(TensorTensor(core, Engine::kVector, dst, a, a, AluOp::kAdd).ok());
  ASSERT_EQ(core.warnings.size(), 2u);  // data1 and data2
  EXPECT_EQ(core.warnings[0].severity, Severity::kError);
  EXPECT_TRUE(CheckWritten(dst, "dst").ok());
}

TEST(EngineChecksTest, ArithmeticOnPackedElementsIsUnspecified) {
  Core core;
  const Tile packed =
      core.Put<uint32_t>(core.Sbuf(Dtype::kFloat8E5M2X4, 1, {2}), {1});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {2}, 64);
  EXPECT_EQ(FaultId(TensorTensor(core, Engine::kVector, dst, packed, packed,
                                 AluOp::kAdd)),
            "cast.packed");
}

}  // namespace
}  // namespace trnemu
