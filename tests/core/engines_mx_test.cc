// QuantizeMx, LoadStationaryMx and MultiplyMovingMx on one core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr Dtype kPacked = Dtype::kFloat8E4M3FNX4;

absl::Status Quantize(Core& core, const Tile& dst, const Tile& src,
                      const Tile& scale) {
  return core.Run(Opcode::kQuantizeMx, Engine::kVector, {dst, src, scale}, {});
}
absl::Status Load(Core& core, const Tile& tile, const Tile& scale,
                  int64_t row = 0, int64_t rows = 128) {
  return core.Run(Opcode::kLoadStationaryMx, Engine::kTensor, {tile, scale},
                  {Integer(row), Integer(rows)});
}
absl::Status Multiply(Core& core, const Tile& dst, const Tile& moving,
                      const Tile& scale, int64_t row = 0, int64_t rows = 128) {
  return core.Run(Opcode::kMultiplyMovingMx, Engine::kTensor,
                  {dst, moving, scale},
                  {Of(Accumulate::kNone), Integer(row), Integer(rows)});
}

// Elements of 1.0 (code 0x38).
Tile Ones(Core& core, uint32_t partitions, int64_t columns, int64_t byte) {
  return core.Put<uint32_t>(
      core.Sbuf(kPacked, partitions, {columns}, byte),
      std::vector<uint32_t>(partitions * static_cast<size_t>(columns),
                            0x38383838));
}
Tile Scales(Core& core, uint32_t partitions, int64_t columns, int64_t byte,
            uint8_t code) {
  return core.Put<uint8_t>(
      core.Sbuf(Dtype::kUint8, partitions, {columns}, byte),
      std::vector<uint8_t>(partitions * static_cast<size_t>(columns), code));
}

TEST(QuantizeMxTest, WritesElementsAndOnlyTheScaleRows) {
  Core core(Target::kTrn3);
  const Tile src = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 64, {8}),
                                  std::vector<float>(64 * 8, 1.0f));
  const Tile scale = Scales(core, 64, 2, 1024, 9);
  const Tile dst = core.Sbuf(kPacked, 64, {2}, 2048);
  ASSERT_TRUE(Quantize(core, dst, src, scale).ok());
  EXPECT_THAT(core.Get<uint32_t>(dst), Each(0x70707070));  // 128
  const std::vector<uint8_t> codes = core.Get<uint8_t>(scale);
  for (size_t p = 0; p < 64; ++p) {
    EXPECT_EQ(codes[2 * p], p % 32 < 4 ? 120 : 9) << p;
    EXPECT_EQ(codes[2 * p + 1], codes[2 * p]);
  }
  EXPECT_TRUE(CheckWritten(dst, "dst").ok());
}

TEST(QuantizeMxTest, OnlyTheScaleRowsCountAsWritten) {
  Core core(Target::kTrn3);
  const Tile src = core.PutFloats(core.Sbuf(Dtype::kFloat16, 32, {4}),
                                  std::vector<float>(32 * 4, 1.0f));
  const Tile scale = core.Sbuf(Dtype::kUint8, 32, {1}, 1024);
  ASSERT_TRUE(
      Quantize(core, core.Sbuf(kPacked, 32, {1}, 2048), src, scale).ok());
  EXPECT_TRUE(CheckWritten(scale, "scale", 0, 4).ok());
  EXPECT_FALSE(CheckWritten(scale, "scale", 4, 1).ok());
}

TEST(MxTest, AddsUpInEveryWidthAndInRowTiles) {
  for (int64_t columns : {2, 10, 128}) {
    for (int64_t n : {1, 33, 129, 300}) {
      Core core(Target::kTrn3);
      const Tile s = Ones(core, 64, columns, 0);
      const Tile m = Ones(core, 64, n, 4096);
      const Tile dst =
          core.Psum(Dtype::kFloat32, static_cast<uint32_t>(columns), {n});
      ASSERT_TRUE(
          Load(core, s, Scales(core, 64, columns, 8192, 128), 64, 64).ok());
      ASSERT_TRUE(
          Multiply(core, dst, m, Scales(core, 64, n, 9216, 126), 64, 64).ok());
      EXPECT_THAT(core.Floats(dst), Each(256.0f));
    }
  }
}

TEST(MxTest, ValuesBeyondFp32HaveExactProducts) {
  Core core(Target::kTrn3);
  const Tile s = core.Put<uint32_t>(core.Sbuf(kPacked, 32, {2}),
                                    std::vector<uint32_t>(64, 0x78787878));
  const Tile m = Ones(core, 32, 3, 1024);  // 256 * 2^127 * 2^-127
  const Tile dst = core.Psum(Dtype::kFloat32, 2, {3});
  ASSERT_TRUE(Load(core, s, Scales(core, 4, 2, 2048, 254)).ok());
  ASSERT_TRUE(Multiply(core, dst, m, Scales(core, 4, 3, 3072, 0)).ok());
  EXPECT_THAT(core.Floats(dst), Each(128 * 256.0f));
  ASSERT_TRUE(Multiply(core, dst, m, Scales(core, 4, 3, 3072, 0)).ok());
  EXPECT_THAT(core.Floats(dst), Each(2 * 128 * 256.0f));
}

TEST(MxTest, AnMxLoadAndAnotherDoNotMix) {
  Core core(Target::kTrn3);
  const Tile ones = Ones(core, 32, 2, 0);
  const Tile scale = Scales(core, 4, 2, 1024, 127);
  const Tile dst = core.Psum(Dtype::kFloat32, 2, {2});
  EXPECT_EQ(FaultId(Multiply(core, dst, ones, scale)),
            "multiply_moving.nothing_loaded");
  const Tile plain = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 32, {2}, 2048),
                                    std::vector<float>(64, 1.0f));
  const std::vector<Attribute> whole = {
      Integer(0), Boolean(false), Boolean(false), Integer(0),
      Integer(0), Integer(128),   Integer(128),   Of(PerfMode::kNone)};
  ASSERT_TRUE(
      core.Run(Opcode::kLoadStationary, Engine::kTensor, {plain}, whole).ok());
  EXPECT_EQ(FaultId(Multiply(core, dst, ones, scale)), "multiply_moving.mode");
  ASSERT_TRUE(Load(core, ones, scale).ok());
  EXPECT_EQ(
      FaultId(core.Run(Opcode::kMultiplyMoving, Engine::kTensor, {dst, plain},
                       {Integer(0), Boolean(false), Boolean(false),
                        Of(Accumulate::kNone), Integer(0), Integer(0),
                        Integer(128), Integer(128), Of(PerfMode::kNone)})),
      "multiply_moving.mode");
  const Tile wrong = core.Psum(Dtype::kFloat32, 2, {3});
  EXPECT_EQ(FaultId(Multiply(core, wrong, ones, scale)),
            "multiply_moving.shape");
}

}  // namespace
}  // namespace trnemu
