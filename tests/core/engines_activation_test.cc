#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<Attribute> Attributes(ActFunction f,
                                  ReduceCmd command = ReduceCmd::kIdle) {
  const bool reduces = command != ReduceCmd::kIdle;
  return {Of(f), Of(reduces ? AluOp::kAdd : AluOp::kNone), Of(command)};
}

absl::Status Activate(Core& core, const Tile& dst, const Tile& data,
                      const Arg& bias, const Arg& scale, ActFunction f,
                      ReduceCmd command = ReduceCmd::kIdle) {
  return core.Run(Opcode::kActivate, Engine::kScalar, {dst, data, bias, scale},
                  Attributes(f, command));
}

TEST(ActivateTest, CopyAndReluHonourScaleAndBias) {
  for (ActFunction f : {ActFunction::kCopy, ActFunction::kRelu}) {
    Core core;
    const Tile x = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {1}), {1});
    const Tile bias =
        core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {1}, 64), {3});
    const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {1}, 128);
    ASSERT_TRUE(Activate(core, dst, x, bias, 2.0, f).ok());
    EXPECT_THAT(core.Floats(dst), ElementsAre(5));
  }
}

TEST(ActivateTest, ScaleAndBiasAreColumnsOfTheirPartition) {
  Core core;
  const Tile x =
      core.PutFloats(core.Sbuf(Dtype::kBFloat16, 2, {2}), {1, 2, 3, 4});
  const Tile scale =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {1}, 64), {10, 100});
  const Tile bias = core.PutFloats(core.Psum(Dtype::kFloat32, 2, {1}), {1, 2});
  const Tile dst = core.Sbuf(Dtype::kInt32, 2, {2}, 128);
  ASSERT_TRUE(Activate(core, dst, x, bias, scale, ActFunction::kSquare).ok());
  EXPECT_THAT(core.Get<int32_t>(dst),
              ElementsAre(121, 441, 302 * 302, 402 * 402));
}

TEST(ActivateTest, TheProductIsRoundedUnlessFused) {
  // (1 + 2^-22)^2 - 1 = 2^-21 + 2^-44.
  Core core;
  const Tile x =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {1}), {1 + 0x1p-22f});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {1}, 64);
  const Arg scale(1 + 0x1p-22), bias(-1.0);
  ASSERT_TRUE(Activate(core, dst, x, bias, scale, ActFunction::kCopy).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(0x1p-21f));
  core.state->numerics.scale_bias = ScaleBias::kFused;
  ASSERT_TRUE(Activate(core, dst, x, bias, scale, ActFunction::kCopy).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(0x1.000002p-21f));
}

TEST(ActivateTest, ExpOfZeroAndMinusInfinityAreExact) {
  Core core;
  const Tile x =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {2}), {0, -INFINITY});
  ASSERT_TRUE(Activate(core, x, x, Arg::Absent(), 1.0, ActFunction::kExp).ok());
  EXPECT_THAT(core.Floats(x), ElementsAre(1, 0));
}

TEST(ActivateTest, SinOutsideItsRangeIsTheCubicAndOneWarning) {
  Core core;
  const Tile x =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {2}), {0.5, 1, 9, 9});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 2, {2}, 64);
  ASSERT_TRUE(
      Activate(core, dst, x, Arg::Absent(), 1.0, ActFunction::kSin).ok());
  EXPECT_NEAR(core.Floats(dst)[0], std::sin(0.5), 1e-7);
  EXPECT_NEAR(core.Floats(dst)[2], 27.65, 0.01);
  ASSERT_EQ(core.warnings.size(), 1u);
  const Diagnostic& d = core.warnings[0];
  EXPECT_EQ(d.id, "activation.outside_valid_range");
  EXPECT_EQ(d.category, Category::kUnspecified);
  EXPECT_EQ(Detail(d, "partition"), "1");
  EXPECT_EQ(Detail(d, "element"), "0");
  EXPECT_EQ(Detail(d, "value"), "9");
  EXPECT_EQ(Detail(d, "range"), "[-3.14159, 3.14159]");
}

TEST(ActivateTest, EveryLimitedFunctionReportsInputsOutsideAndNoneInside) {
  struct Case {
    ActFunction f;
    float inside, outside;
  };
  for (const Case& c : {Case{ActFunction::kLog, 0x1p64f, 0x1p65f},
                        Case{ActFunction::kSqrt, 0, 0x1p119f},
                        Case{ActFunction::kRsqrt, 0x1p-87f, 0x1p-88f},
                        Case{ActFunction::kReciprocal, -0x1p42f, 0},
                        Case{ActFunction::kArctan, 1.5f, 1.6f}}) {
    Core core;
    const Tile x =
        core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {1}), {c.inside});
    const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {1}, 64);
    ASSERT_TRUE(Activate(core, dst, x, Arg::Absent(), 1.0, c.f).ok());
    EXPECT_TRUE(core.warnings.empty()) << Info(c.f).name;
    core.PutFloats(x, {c.outside});
    ASSERT_TRUE(Activate(core, dst, x, Arg::Absent(), 1.0, c.f).ok());
    EXPECT_EQ(core.warnings.size(), 1u) << Info(c.f).name;
  }
}

TEST(ActivateTest, PreluWithoutASlopeIsReportedForNegativeInputs) {
  Core core;
  const Tile x = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {2}), {3, -2});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {2}, 64);
  ASSERT_TRUE(
      Activate(core, dst, x, Arg::Absent(), 1.0, ActFunction::kPrelu).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(3, 0));
  ASSERT_EQ(core.warnings.size(), 1u);
  EXPECT_EQ(core.warnings[0].id, "activation.prelu_slope");
}

// Runs a reducing activation and reads the accumulators.
std::vector<float> Reduce(Core& core, const Tile& data, ReduceCmd command) {
  const Tile dst =
      core.Sbuf(Dtype::kFloat32, data.partitions, {data.free_size}, 4096);
  const Tile sums = core.Sbuf(Dtype::kFloat32, data.partitions, {1}, 8192);
  EXPECT_TRUE(
      Activate(core, dst, data, Arg::Absent(), 1.0, ActFunction::kCopy, command)
          .ok());
  EXPECT_TRUE(core.Run(Opcode::kReadAccumulator, Engine::kScalar, {sums}).ok());
  return core.Floats(sums);
}

TEST(AccumulatorTest, EachCommandDoesWhatItSays) {
  Core core;
  const Tile data =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 2, {3}), {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Reduce(core, data, ReduceCmd::kResetReduce), ElementsAre(6, 15));
  EXPECT_THAT(Reduce(core, data, ReduceCmd::kIdle), ElementsAre(6, 15));
  EXPECT_THAT(Reduce(core, data, ReduceCmd::kReduce), ElementsAre(12, 30));
  EXPECT_THAT(Reduce(core, data, ReduceCmd::kReduce), ElementsAre(18, 45));
  EXPECT_THAT(Reduce(core, data, ReduceCmd::kReset), ElementsAre(0, 0));
  EXPECT_THAT(Reduce(core, data, ReduceCmd::kReduce), ElementsAre(6, 15));
}

TEST(AccumulatorTest, SumsPrecastValuesAscendingAndAddsTheSumOnce) {
  Core core;
  // Ascending: 2^24 + 1 stays 2^24 each time.
  std::vector<float> x(100, 1.0f);
  x[0] = 16777216;
  const Tile data = core.PutFloats(core.Sbuf(Dtype::kFloat32, 20, {100}), x);
  EXPECT_THAT(Reduce(core, data, ReduceCmd::kResetReduce), Each(16777216));
  // 257 and 3 are cast to bf16 as 256 and 3, but summed before.
  const Tile small =
      core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {2}), {257, 3});
  const Tile dst = core.Sbuf(Dtype::kBFloat16, 1, {2}, 4096);
  const Tile sums = core.Sbuf(Dtype::kFloat32, 1, {1}, 8192);
  ASSERT_TRUE(Activate(core, dst, small, Arg::Absent(), 1.0, ActFunction::kCopy,
                       ReduceCmd::kResetReduce)
                  .ok());
  ASSERT_TRUE(core.Run(Opcode::kReadAccumulator, Engine::kScalar, {sums}).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(256, 3));
  EXPECT_THAT(core.Floats(sums), ElementsAre(260));
}

TEST(AccumulatorTest, AResultThatIsTheDestinationKeepsTheReduction) {
  Core core;
  const Tile x = core.PutFloats(core.Sbuf(Dtype::kFloat32, 1, {1}), {3});
  const Tile dst = core.Sbuf(Dtype::kFloat32, 1, {1}, 64);
  ASSERT_TRUE(Activate(core, dst, x, Arg::Absent(), 1.0, ActFunction::kSquare,
                       ReduceCmd::kResetReduce)
                  .ok());
  core.PutFloats(dst, {0});
  ASSERT_TRUE(core.Run(Opcode::kReadAccumulator, Engine::kScalar, {dst}).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(9));
}

}  // namespace
}  // namespace trnemu
