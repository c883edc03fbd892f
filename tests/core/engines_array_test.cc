// What is loaded where in the tensor engine's array, and double_row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/core/engines_harness.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;

// A load and a multiplication in one tile of the array.
absl::Status LoadAt(Core& core, const Tile& tile, std::array<int64_t, 4> at,
                    PerfMode perf = PerfMode::kNone) {
  return core.Run(Opcode::kLoadStationary, Engine::kTensor, {tile},
                  {Integer(0), Boolean(false), Boolean(false), Integer(at[0]),
                   Integer(at[1]), Integer(at[2]), Integer(at[3]), Of(perf)});
}
absl::Status MultiplyAt(Core& core, const Tile& dst, const Tile& moving,
                        std::array<int64_t, 4> at,
                        PerfMode perf = PerfMode::kNone) {
  return core.Run(Opcode::kMultiplyMoving, Engine::kTensor, {dst, moving},
                  {Integer(0), Boolean(false), Boolean(false),
                   Of(Accumulate::kFalse), Integer(at[0]), Integer(at[1]),
                   Integer(at[2]), Integer(at[3]), Of(perf)});
}

TEST(ArrayTest, TilesInDifferentPlacesStayLoadedSideBySide) {
  Core core;
  const Tile one = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {1}), {1});
  std::vector<std::array<int64_t, 4>> places;
  for (int64_t row = 0; row < 128; row += 32) {
    for (int64_t column = 0; column < 128; column += 32) {
      places.push_back({row, column, 32, 32});
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const Tile s = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {1}, 64),
                                  {static_cast<float>(i)});
    ASSERT_TRUE(LoadAt(core, s, places[i]).ok());
  }
  const Tile dst = core.Psum(Dtype::kFloat32, 1, {1});
  for (size_t i = places.size(); i-- > 0;) {
    ASSERT_TRUE(MultiplyAt(core, dst, one, places[i]).ok());
    EXPECT_THAT(core.Floats(dst), ElementsAre(static_cast<float>(i)));
  }
}

TEST(ArrayTest, ALoadReplacesWhatItOverlapsAndNothingElse) {
  Core core;
  const Tile one = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {1}), {1});
  const Tile two = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 1, {1}, 64), {2});
  const Tile dst = core.Psum(Dtype::kFloat32, 1, {1});
  const auto multiply = [&](std::array<int64_t, 4> at) {
    return FaultId(MultiplyAt(core, dst, one, at));
  };
  ASSERT_TRUE(LoadAt(core, two, {0, 0, 128, 128}).ok());
  EXPECT_EQ(multiply({0, 0, 64, 64}), "multiply_moving.nothing_loaded");
  EXPECT_EQ(multiply({0, 0, 128, 128}), "");
  ASSERT_TRUE(LoadAt(core, one, {64, 64, 64, 64}).ok());
  EXPECT_EQ(multiply({0, 0, 128, 128}), "multiply_moving.nothing_loaded");
  EXPECT_EQ(multiply({64, 64, 64, 64}), "");
  ASSERT_TRUE(LoadAt(core, two, {0, 0, 64, 128}).ok());
  ASSERT_TRUE(LoadAt(core, two, {64, 0, 32, 32}).ok());
  EXPECT_EQ(multiply({64, 64, 64, 64}), "");
  EXPECT_THAT(core.Floats(dst), ElementsAre(1));
  ASSERT_TRUE(LoadAt(core, two, {96, 96, 32, 32}).ok());
  EXPECT_EQ(multiply({64, 64, 64, 64}), "multiply_moving.nothing_loaded");
  EXPECT_EQ(multiply({0, 0, 64, 128}), "");
  ASSERT_TRUE(LoadAt(core, one, {0, 0, 128, 128}).ok());
  EXPECT_EQ(multiply({64, 0, 32, 32}), "multiply_moving.nothing_loaded");
  EXPECT_EQ(multiply({96, 96, 32, 32}), "multiply_moving.nothing_loaded");
}

TEST(ArrayTest, WhatIsNoTileOfTheArrayIsRefused) {
  Core core;
  const Tile s = core.PutFloats(core.Sbuf(Dtype::kBFloat16, 33, {2}), {1});
  for (const std::array<int64_t, 4>& at :
       std::vector<std::array<int64_t, 4>>{{0, 0, 96, 128},
                                           {32, 0, 64, 128},
                                           {128, 0, 64, 128},
                                           {-64, 0, 64, 128},
                                           {0, 64, 128, 128},
                                           {0, 0, 32, 128}}) {
    EXPECT_EQ(FaultId(LoadAt(core, s, at)), "load_stationary.shape");
  }
}

TEST(DoubleRowTest, AddsBothHalvesOfTheContraction) {
  Core core;
  // [2, 2, 1] and [2, 2, 2]: sum over k and r.
  const Tile s = FreeDims(
      core.PutFloats(core.Sbuf(Dtype::kFloat8E4M3, 2, {2}), {1, 2, 3, 4}),
      {2, 1});
  const Tile m =
      FreeDims(core.PutFloats(core.Sbuf(Dtype::kFloat8E5M2, 2, {4}, 64),
                              {1, 0, 0, 1, 1, 1, 2, 0}),
               {2, 2});
  const Tile dst = core.Psum(Dtype::kFloat32, 1, {2});
  const std::array<int64_t, 4> whole = {0, 0, 128, 128};
  ASSERT_TRUE(LoadAt(core, s, whole, PerfMode::kDoubleRow).ok());
  ASSERT_TRUE(MultiplyAt(core, dst, m, whole, PerfMode::kDoubleRow).ok());
  EXPECT_THAT(core.Floats(dst), ElementsAre(1 + 3 + 8, 2 + 3));
}

}  // namespace
}  // namespace trnemu
