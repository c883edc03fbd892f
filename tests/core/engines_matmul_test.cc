#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Mode {
  Accumulate accumulate = Accumulate::kNone;
  bool transpose = false;
  PerfMode perf = PerfMode::kNone;
};

absl::Status Load(Core& core, const Tile& stationary, int64_t pass,
                  const Mode& mode) {
  return core.Run(
      Opcode::kLoadStationary, Engine::kTensor, {stationary},
      {Integer(pass), Boolean(mode.transpose), Boolean(false), Integer(0),
       Integer(0), Integer(128), Integer(128), Of(mode.perf)});
}

absl::Status Multiply(Core& core, const Tile& dst, const Tile& moving,
                      int64_t pass, const Mode& mode) {
  return core.Run(Opcode::kMultiplyMoving, Engine::kTensor, {dst, moving},
                  {Integer(pass), Boolean(mode.transpose), Boolean(false),
                   Of(mode.accumulate), Integer(0), Integer(0), Integer(128),
                   Integer(128), Of(mode.perf)});
}

// As nc_matmul expands: one pass, or LO and HI for fp32.
absl::Status Matmul(Core& core, const Tile& dst, const Tile& stationary,
                    const Tile& moving, Mode mode = {}) {
  const bool exact =
      mode.transpose && core.hardware.features.exact_tensor_transpose;
  const bool two = stationary.dtype == Dtype::kFloat32 && !exact;
  for (int64_t pass :
       two ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{0}) {
    absl::Status status = Load(core, stationary, pass, mode);
    if (status.ok()) status = Multiply(core, dst, moving, pass, mode);
    if (!status.ok()) return status;
    mode.accumulate = Accumulate::kTrue;
  }
  return absl::OkStatus();
}

Tile Identity(Core& core, Dtype dtype, uint32_t n, int64_t byte) {
  std::vector<float> values(n * n, 0.0f);
  for (uint32_t i = 0; i < n; ++i) values[i * n + i] = 1;
  return core.PutFloats(core.Sbuf(dtype, n, {n}, byte), values);
}

TEST(MatmulTest, MultipliesNarrowTypesInOnePass) {
  for (Dtype dtype : {Dtype::kBFloat16, Dtype::kFloat16, Dtype::kFloat8E4M3,
                      Dtype::kTFloat32}) {
    Core core;
    const Tile s = core.PutFloats(core.Sbuf(dtype, 3, {2}), {1, 2, 3, 4, 5, 6});
    const Tile m =
        core.PutFloats(core.Sbuf(dtype, 3, {2}, 64), {1, 0, 2, 1, 0, 3});
    const Tile dst = core.Psum(Dtype::kFloat32, 2, {2});
    ASSERT_TRUE(Matmul(core, dst, s, m).ok());
    EXPECT_THAT(core.Floats(dst), ElementsAre(7, 18, 10, 22));
    EXPECT_EQ(PsumWriters(dst), 2u);  // kMatmul
    EXPECT_TRUE(CheckWritten(dst, "dst").ok());
  }
}

TEST(MatmulTest, StridedOperandsEqualContiguousOnes) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> s(64 * 40), m(64 * 48);
  for (float& x : s) x = normal(random);
  for (float& x : m) x = normal(random);
  for (Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    Core core;
    const Tile s1 = core.PutFloats(core.Sbuf(dtype, 64, {40}), s);
    const Tile m1 = core.PutFloats(core.Sbuf(dtype, 64, {48}, 4096), m);
    const Tile s2 = core.PutFloats(
        Strided(core.Sbuf(dtype, 64, {200}, 8192), {{3, 40}}), s);
    const Tile m2 = core.PutFloats(Strided(core.Sbuf(dtype, 64, {200}, 16384),
                                           {{100, 2}, {16, 3}, {2, 8}}),
                                   m);
    const Tile d1 = core.Psum(Dtype::kFloat32, 40, {48});
    const Tile d2 =
        Strided(core.Psum(Dtype::kFloat32, 40, {128}, 2048), {{2, 48}});
    ASSERT_TRUE(Matmul(core, d1, s1, m1).ok());
    ASSERT_TRUE(Matmul(core, d2, s2, m2).ok());
    EXPECT_EQ(core.Get<uint32_t>(d1), core.Get<uint32_t>(d2));
    // An exact product, to catch transposed or shifted operands.
    double exact = 0;
    const std::vector<float> sf = core.Floats(s1), mf = core.Floats(m1);
    for (int k = 0; k < 64; ++k)
      exact += double{sf[k * 40 + 7]} * mf[k * 48 + 9];
    EXPECT_NEAR(core.Floats(d1)[7 * 48 + 9], exact, 1e-4);
  }
}

TEST(MatmulTest, Fp32TakesTheLoAndHiHalvesOfTheDevice) {
  // One product: (1 + 2^-23) * (1 + 2^-12 + 2^-23). hi keeps 11 stored bits.
  Core core;
  const float x = 1 + 0x1p-23f, y = 1 + 0x1p-12f + 0x1p-23f;
  const Tile s = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {1}), {x});
  const Tile m = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {1}, 64), {y});
  const Tile dst = core.Psum(Dtype::kFloat32, 1, {1});
  ASSERT_TRUE(Load(core, s, 1, {}).ok());
  ASSERT_TRUE(Multiply(core, dst, m, 1, {}).ok());
  // LO: 2^-23 * (2^-12 + 2^-23) + 2^-23 * 1.
  const float lo = 0x1p-23f * (0x1p-12f + 0x1p-23f) + 0x1p-23f;
  EXPECT_THAT(core.Floats(dst), ElementsAre(lo));
  ASSERT_TRUE(Load(core, s, 2, {}).ok());
  ASSERT_TRUE(
      Multiply(core, dst, m, 2, {.accumulate = Accumulate::kTrue}).ok());
  const float hi = (0x1p-12f + 0x1p-23f) + 1;
  EXPECT_THAT(core.Floats(dst), ElementsAre(lo + hi));
}

TEST(MatmulTest, AccumulateNoneOverwritesOnceAndThenAdds) {
  Core core;
  const Tile ones = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {2}), {1});
  const Tile dst =
      core.PutFloats(core.Psum(Dtype::kFloat32, 2, {2}), {100});  // kOther
  ASSERT_TRUE(Matmul(core, dst, ones, ones).ok());
  EXPECT_THAT(core.Floats(dst), Each(2));
  ASSERT_TRUE(Matmul(core, dst, ones, ones).ok());
  EXPECT_THAT(core.Floats(dst), Each(4));
  ASSERT_TRUE(
      Matmul(core, dst, ones, ones, {.accumulate = Accumulate::kFalse}).ok());
  EXPECT_THAT(core.Floats(dst), Each(2));
  ASSERT_TRUE(
      Matmul(core, dst, ones, ones, {.accumulate = Accumulate::kTrue}).ok());
  EXPECT_THAT(core.Floats(dst), Each(4));
  ASSERT_TRUE(core.Run(Opcode::kPsumReset, Engine::kTensor, {dst}).ok());
  ASSERT_TRUE(Matmul(core, dst, ones, ones).ok());
  EXPECT_THAT(core.Floats(dst), Each(2));
}

TEST(MatmulTest, AccumulateNoneDecidesForEachElement) {
  for (Dtype dtype : {Dtype::kBFloat16, Dtype::kFloat32}) {
    Core core;
    const Tile s = core.PutFloats(core.Sbuf(dtype, 1, {2}), {1});
    const Tile m = core.PutFloats(core.Sbuf(dtype, 1, {4}, 64), {1, 2, 3, 4});
    const Tile dst = core.Psum(Dtype::kFloat32, 2, {4});
    ASSERT_TRUE(Matmul(core, dst, s, m).ok());
    core.PutFloats(Strided(dst, {{2, 2}}), {50});  // elements 0 and 2
    ASSERT_TRUE(Matmul(core, dst, s, m).ok());
    EXPECT_THAT(core.Floats(dst), ElementsAre(1, 4, 3, 8, 1, 4, 3, 8));
    EXPECT_EQ(PsumWriters(dst), 2u);
  }
}

TEST(MatmulTest, OverlappingRegionsAccumulateWhereTheyMeet) {
  Core core;
  const Tile s = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {1}), {1});
  const Tile m = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {4}, 64), {1});
  const Tile row = core.Psum(Dtype::kFloat32, 1, {6});
  ASSERT_TRUE(Matmul(core, Strided(row, {{1, 4}}), s, m).ok());
  ASSERT_TRUE(Matmul(core, Strided(row, {{1, 4}}, 2), s, m).ok());
  EXPECT_THAT(core.Floats(row), ElementsAre(1, 1, 2, 2, 1, 1));
}

TEST(MatmulTest, AccumulatingOntoUnwrittenPsumIsAnErrorOnEveryGeneration) {
  for (Target target : kTargets) {
    Core core(target);
    const Tile ones = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {4}), {1});
    const Tile dst = core.Psum(Dtype::kFloat32, 4, {4}, 2 * 2048 + 16, 32);
    Tile part = dst;
    part.partitions = 3;
    core.PutFloats(part, {0});
    const absl::Status status =
        Matmul(core, dst, ones, ones, {.accumulate = Accumulate::kTrue});
    ASSERT_EQ(FaultId(status), "nc_matmul.accumulate_unwritten");
    const Diagnostic d = DiagnosticOf(status);
    EXPECT_EQ(d.category, Category::kUninitialized);
    EXPECT_EQ(Detail(d, "bank"), "2");
    EXPECT_EQ(Detail(d, "partition"), "35");
    EXPECT_EQ(Detail(d, "byte_range"), "[4112, 4116)");
  }
}

TEST(MatmulTest, OnlyTrn3AccumulatesOntoWhatAnotherInstructionWrote) {
  for (Target target : kTargets) {
    Core core(target);
    const Tile ones = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {4}), {1});
    const Tile dst = core.Psum(Dtype::kFloat32, 4, {4});
    ASSERT_TRUE(
        core.Run(Opcode::kMemset, Engine::kVector, {dst}, {Real(5)}).ok());
    const absl::Status status =
        Matmul(core, dst, ones, ones, {.accumulate = Accumulate::kTrue});
    if (target == Target::kTrn3) {
      ASSERT_TRUE(status.ok());
      EXPECT_THAT(core.Floats(dst), Each(7));
      continue;
    }
    EXPECT_EQ(FaultId(status), "nc_matmul.accumulate_on_other");
    EXPECT_EQ(DiagnosticOf(status).category, Category::kUnspecified);
  }
}

TEST(MatmulTest, AnAllowedFaultIsReportedAndTheInstructionGoesOn) {
  Core core;
  const std::vector<std::string> allow = {"nc_matmul.accumulate_on_other"};
  core.state->allow = allow;
  const Tile ones = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {4}), {1});
  const Tile dst = core.PutFloats(core.Psum(Dtype::kFloat32, 4, {4}), {5});
  const Mode mode = {.accumulate = Accumulate::kTrue};
  ASSERT_TRUE(Matmul(core, dst, ones, ones, mode).ok());
  EXPECT_THAT(core.Floats(dst), Each(7));
  ASSERT_EQ(core.warnings.size(), 1u);
  EXPECT_EQ(core.warnings[0].id, allow[0]);
  EXPECT_EQ(core.warnings[0].severity, Severity::kError);
  const Tile fresh = core.Psum(Dtype::kFloat32, 4, {4}, 64);
  EXPECT_EQ(FaultId(Matmul(core, fresh, ones, ones, mode)),
            "nc_matmul.accumulate_unwritten");
}

TEST(MatmulTest, ABfloat16DestinationIsRoundedOnceAMatmul) {
  Core core(Target::kTrn3);
  // 1 + 2^-8 is a tie in bf16 and becomes 1; kept in fp32 it would grow.
  const Tile s = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {2}), {1});
  const Tile one =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {2}, 64), {1, 256});
  const Tile small =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {2}, 128), {0x1p-8f, 3});
  const Tile dst = core.Psum(Dtype::kBFloat16, 2, {2});
  ASSERT_TRUE(Matmul(core, dst, s, one).ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Matmul(core, dst, s, small).ok());
  // 256 + 3 = 259 -> 260 (to even), 263 -> 264, 267 -> 268, 271 -> 272.
  EXPECT_THAT(core.Floats(dst), ElementsAre(1, 272, 1, 272));
}

TEST(MatmulTest, ALaterMatmulUsesWhatIsLoaded) {
  Core core;
  const Tile s = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {1}), {3});
  const Tile m =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {2}, 64), {1, 2});
  const Tile a = core.Psum(Dtype::kFloat32, 1, {2});
  const Tile b = core.Psum(Dtype::kFloat32, 1, {2}, 64);
  EXPECT_EQ(FaultId(Multiply(core, a, m, 0, {})),
            "multiply_moving.nothing_loaded");
  ASSERT_TRUE(Load(core, s, 0, {}).ok());
  core.PutFloats(s, {100});  // after the load
  ASSERT_TRUE(Multiply(core, a, m, 0, {}).ok());
  ASSERT_TRUE(Multiply(core, b, m, 0, {}).ok());
  EXPECT_THAT(core.Floats(a), ElementsAre(3, 6));
  EXPECT_THAT(core.Floats(b), ElementsAre(3, 6));
}

TEST(MatmulTest, MismatchesWithWhatIsLoadedAreFaults) {
  Core core;
  const Tile s = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {2}), {3});
  const Tile m = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 3, {2}, 64), {1});
  const Tile dst = core.Psum(Dtype::kFloat32, 2, {2});
  ASSERT_TRUE(Load(core, s, 0, {}).ok());
  EXPECT_EQ(FaultId(Multiply(core, dst, m, 0, {})), "multiply_moving.shape");
  EXPECT_EQ(FaultId(Multiply(core, dst, s, 1, {})), "multiply_moving.mode");
  EXPECT_EQ(FaultId(Load(core, s, 1, {})), "load_stationary.pass");
  EXPECT_EQ(FaultId(Load(core, s, 0, {.perf = PerfMode::kDoubleRow})),
            "load_stationary.double_row");
  EXPECT_EQ(FaultId(Multiply(core, dst, s, 0, {.perf = PerfMode::kDoubleRow})),
            "multiply_moving.mode");
}

TEST(TransposeModeTest, NanStaysInPlaceFromTrn2OnAndSpreadsOnTrn1) {
  for (Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    for (Target target : kTargets) {
      Core core(target);
      const Tile data =
          core.PutFloats(core.Sbuf(dtype, 2, {2}), {1, kNan, 3, 4});
      const Tile identity = Identity(core, dtype, 2, 64);
      const bool trn1 = target == Target::kTrn1;
      const Tile dst = core.Psum(trn1 ? Dtype::kFloat32 : dtype, 2, {2});
      ASSERT_TRUE(Matmul(core, dst, data, identity, {.transpose = true}).ok());
      const std::vector<float> result = core.Floats(dst);
      EXPECT_EQ(result[0], 1);
      EXPECT_EQ(result[1], 3);
      EXPECT_TRUE(std::isnan(result[2]));
      if (trn1) {
        EXPECT_TRUE(std::isnan(result[3]));
      } else {
        EXPECT_EQ(result[3], 4);
      }
    }
  }
}

TEST(TransposeModeTest, OnTrn1AnInfinityTurnsItsRowNeighboursIntoNan) {
  Core core(Target::kTrn1);
  const Tile data =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {2}), {1, INFINITY, 3, 4});
  const Tile dst = core.Psum(Dtype::kFloat32, 2, {2});
  ASSERT_TRUE(Matmul(core, dst, data, Identity(core, Dtype::kBFloat16, 2, 64),
                     {.transpose = true})
                  .ok());
  const std::vector<float> result = core.Floats(dst);
  EXPECT_EQ(result[0], 1);
  EXPECT_EQ(result[1], 3);
  EXPECT_EQ(result[2], INFINITY);
  EXPECT_TRUE(std::isnan(result[3]));
}

TEST(TransposeModeTest, MovesBitsAndZeroExtendsFp8) {
  Core core;
  const Tile data = core.Put<uint8_t>(core.Sbuf(Dtype::kFloat8E4M3, 2, {3}),
                                      {0x81, 0x7F, 3, 0xFF, 5, 6});
  const Tile identity = Identity(core, Dtype::kFloat8E4M3, 2, 64);
  const Tile dst = core.Psum(Dtype::kBFloat16, 3, {2});
  ASSERT_TRUE(Matmul(core, dst, data, identity, {.transpose = true}).ok());
  EXPECT_THAT(core.Get<uint16_t>(dst), ElementsAre(0x81, 0xFF, 0x7F, 5, 3, 6));
}

TEST(TransposeModeTest, APayloadOfAnFp32NanSurvives) {
  Core core;
  const Tile data =
      core.Put<uint32_t>(core.Sbuf(Dtype::kFloat32, 1, {2}), {0x7F800001, 1});
  const Tile identity = Identity(core, Dtype::kFloat32, 1, 64);
  const Tile dst = core.Psum(Dtype::kFloat32, 2, {1});
  ASSERT_TRUE(Matmul(core, dst, data, identity, {.transpose = true}).ok());
  EXPECT_THAT(core.Get<uint32_t>(dst), ElementsAre(0x7F800001, 1));
}

// Undefined on the device (isa.json), so at most a warning (decisions.md).
TEST(TransposeModeTest, WarnsOfAMovingTileThatIsNoIdentity) {
  Core core;
  const Tile data =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {2}), {1, 2, 3, 4});
  const Tile swap =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {2}, 64), {0, 1, 1, 0});
  const Tile dst = core.Psum(Dtype::kBFloat16, 2, {2});
  ASSERT_TRUE(Matmul(core, dst, data, swap, {.transpose = true}).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(3, 1, 4, 2));
  ASSERT_EQ(core.warnings.size(), 1u);
  EXPECT_EQ(core.warnings[0].id, "nc_matmul.transpose_moving");
  // No selection: the product. [1 3; 2 4] x [1 1; 0 1] = [1 4; 2 6].
  core.PutFloats(swap, {1, 1, 0, 1});
  ASSERT_TRUE(Matmul(core, dst, data, swap, {.transpose = true}).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(1, 4, 2, 6));
  ASSERT_EQ(core.warnings.size(), 2u);
  EXPECT_EQ(core.warnings[1].id, "nc_matmul.transpose_moving");
}

// Pinned tiles may alias, and each has a reset of its own: bytes stay written.
TEST(PsumResetTest, ForgetsTheLastWriterButNotThatBytesWereWritten) {
  Core core;
  const Tile dst = core.PutFloats(core.Psum(Dtype::kFloat32, 2, {4}), {1});
  const Tile half = Strided(dst, {{1, 2}});
  ASSERT_TRUE(core.Run(Opcode::kPsumReset, Engine::kVector, {half}).ok());
  EXPECT_EQ(PsumWriters(half), 1u);                       // kNothing
  EXPECT_EQ(PsumWriters(Strided(dst, {{1, 2}}, 2)), 4u);  // kOther
  EXPECT_TRUE(CheckWritten(dst, "dst").ok());
}

TEST(NopTest, DoesNothing) {
  Core core;
  EXPECT_TRUE(core.Run(Opcode::kNop, Engine::kSync, {}).ok());
}

}  // namespace
}  // namespace trnemu
