#include "core/numerics/alu.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/numerics/convert.h"
#include "gtest/gtest.h"
#include "tests/core/vector_targets.h"

namespace trnemu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = 0x1p-149f;

using Floats = std::vector<float>;
using Words = std::vector<uint32_t>;

Words BitsOf(const Floats& row) {
  Words words;
  for (float x : row) words.push_back(std::bit_cast<uint32_t>(x));
  return words;
}

// Repeats the row so that whole vectors and a tail are both used.
Floats Tiled(const Floats& row) {
  Floats out;
  for (int i = 0; i < 5; ++i) out.insert(out.end(), row.begin(), row.end());
  return out;
}

void ExpectRow(const Floats& got, const Floats& want, AluOp op) {
  EXPECT_EQ(BitsOf(got), BitsOf(want)) << Name(op);
}

// Expects a op b as rows, on each target; kNan wants the canonical NaN.
void ExpectBinary(AluOp op, const Floats& a, const Floats& b,
                  const Floats& want) {
  const Floats x = Tiled(a);
  const Floats y = Tiled(b);
  OnEachTarget([&] {
    Floats out(x.size());
    AluRows(op, x.data(), y.data(), x.size(), out.data());
    ExpectRow(out, Tiled(want), op);
  });
}

void ExpectUnary(AluOp op, const Floats& a, const Floats& want) {
  const Floats x = Tiled(a);
  OnEachTarget([&] {
    Floats out(x.size());
    AluRowUnary(op, x.data(), x.size(), out.data());
    ExpectRow(out, Tiled(want), op);
  });
}

// ---- fp32 ----

TEST(Alu, ArithmeticRoundsToNearestEven) {
  ExpectBinary(AluOp::kAdd, {1, 1, 16777216, kMax, -0.0f, 0x1p-126f},
               {0x1p-24f, 0x1.8p-24f, 1, kMax, -0.0f, -0x1.8p-127f},
               {1, 0x1.000002p0f, 16777216, kInf, -0.0f, 0x1p-128f});
  ExpectBinary(AluOp::kSubtract, {1, 5, kInf, 16777218, 3},
               {0x1p-25f, 7, -kInf, 16777216, 3}, {1, -2, kInf, 2, 0});
  ExpectBinary(AluOp::kMultiply, {3, -2, 0x1p-75f, 0x1p100f, -0.0f},
               {7, 0.5f, 0x1p-75f, 0x1p100f, 3}, {21, -1, 0, kInf, -0.0f});
}

TEST(Alu, EveryNanResultIsTheSamePositiveQuietNan) {
  const float negative = std::bit_cast<float>(0xFFC12345);
  const float signalling = std::bit_cast<float>(0x7F800001);
  for (AluOp op : {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply}) {
    ExpectBinary(op, {negative, 1, signalling}, {1, negative, negative},
                 {kNan, kNan, kNan});
  }
  ExpectBinary(AluOp::kSubtract, {kInf, -kInf}, {kInf, -kInf}, {kNan, kNan});
  ExpectBinary(AluOp::kMultiply, {0, kInf}, {-kInf, -0.0f}, {kNan, kNan});
  ExpectBinary(AluOp::kMaximum, {negative}, {signalling}, {kNan});
  ExpectUnary(AluOp::kAbs, {negative}, {kNan});
  ExpectUnary(AluOp::kSquare, {negative}, {kNan});
  ExpectUnary(AluOp::kRsqrt, {-1, -kInf, signalling}, {kNan, kNan, kNan});
  EXPECT_EQ(std::bit_cast<uint32_t>(kNan), 0x7FC00000u);
}

TEST(Alu, MaximumAndMinimumPreferNumbersAndOnATieTheSecondOperand) {
  ExpectBinary(AluOp::kMaximum, {1, 2, kNan, 3, 0, -0.0f, -kInf},
               {2, 1, 4, kNan, -0.0f, 0, kNan}, {2, 2, 4, 3, -0.0f, 0, -kInf});
  ExpectBinary(AluOp::kMinimum, {1, 2, kNan, 3, 0, -0.0f, kInf},
               {2, 1, 4, kNan, -0.0f, 0, kNan}, {1, 1, 4, 3, -0.0f, 0, kInf});
}

TEST(Alu, AbsMaxAndAbsMinKeepTheWinnersSign) {
  ExpectBinary(AluOp::kAbsMax, {-3, 2, 2, -2, kNan, -1, 0},
               {2, -3, -2, 2, -5, kNan, -0.0f}, {-3, -3, -2, 2, -5, -1, -0.0f});
  ExpectBinary(AluOp::kAbsMin, {-3, 2, 2, -2, kNan, -1, 0},
               {2, -3, -2, 2, -5, kNan, -0.0f}, {2, 2, -2, 2, -5, -1, -0.0f});
}

TEST(Alu, ComparisonsAreIeeeAndGiveOneOrZero) {
  const Floats a = {1, 2, 3, kNan, 1, 0, kInf};
  const Floats b = {2, 2, 2, 1, kNan, -0.0f, kInf};
  ExpectBinary(AluOp::kEqual, a, b, {0, 1, 0, 0, 0, 1, 1});
  ExpectBinary(AluOp::kNotEqual, a, b, {1, 0, 1, 1, 1, 0, 0});
  ExpectBinary(AluOp::kGreater, a, b, {0, 0, 1, 0, 0, 0, 0});
  ExpectBinary(AluOp::kGreaterEqual, a, b, {0, 1, 1, 0, 0, 1, 1});
  ExpectBinary(AluOp::kLess, a, b, {1, 0, 0, 0, 0, 0, 0});
  ExpectBinary(AluOp::kLessEqual, a, b, {1, 1, 0, 0, 0, 1, 1});
}

TEST(Alu, LogicalOperationsTakeAnythingButZeroAsTrue) {
  const Floats a = {0, 0, 2, -1, -0.0f, kNan};
  const Floats b = {0, 5, 0, kNan, kTiny, 0};
  ExpectBinary(AluOp::kLogicalAnd, a, b, {0, 0, 0, 1, 0, 0});
  ExpectBinary(AluOp::kLogicalOr, a, b, {0, 1, 1, 1, 1, 1});
  ExpectBinary(AluOp::kLogicalXor, a, b, {0, 1, 1, 0, 1, 1});
}

TEST(Alu, UnaryOperationsHaveTheirIeeeValues) {
  ExpectUnary(AluOp::kAbs, {-1.5f, 2, -0.0f, -kInf}, {1.5f, 2, 0, kInf});
  ExpectUnary(AluOp::kSquare, {-3, 0x1p-100f, 1e30f, 0x1.001p0f},
              {9, 0, kInf, 0x1.002002p0f - 0x1p-23f});
  ExpectUnary(AluOp::kRelu, {-1, 2, -0.0f, kNan, -kInf, kInf, -kTiny},
              {0, 2, 0, 0, 0, kInf, 0});
  ExpectUnary(AluOp::kReciprocal, {2, -4, 3, 0, -0.0f, kInf, -kInf, 0x1p127f},
              {.5f, -.25f, 0x1.555556p-2f, kInf, -kInf, 0, -0.0f, 0x1p-127f});
  ExpectUnary(
      AluOp::kRsqrt, {4, 0.25f, 2, 3, 0, -0.0f, kInf, kTiny},
      {.5f, 2, 0x1.6a09e6p-1f, 0x1.279a74p-1f, kInf, -kInf, 0, 0x1.6a09e6p74f});
}

// The ends of [1, 4) and some between; 1/sqrt to 20 digits, rounded to fp32.
TEST(Alu, RsqrtIsCorrectlyRounded) {
  ExpectUnary(AluOp::kRsqrt, {5, 6, 7, 10, 1000, 0x1.fffffep0f, 0x1.000002p0f},
              {0.44721359549995793928f, 0.40824829046386301637f,
               0.37796447300922722721f, 0.31622776601683793320f,
               0.031622776601683793320f, 0.70710680225820520610f,
               0.99999994039535868978f});
}

TEST(Alu, PowerHasTheSpecialValuesOfIeee754) {
  const float big = 16777216;  // an even integer
  ExpectBinary(AluOp::kPower, {kNan, 1, -1, -1, 0, -0.0f, -0.0f, -0.0f, 0},
               {0, kNan, kInf, -kInf, 0, -3, -2, -kInf, -.5f},
               {1, 1, 1, 1, 1, -kInf, kInf, kInf, kInf});
  ExpectBinary(AluOp::kPower, {-0.0f, -0.0f, 0, -8, -kInf, -kInf, -kInf, -kInf},
               {3, 2, .5f, 1.0f / 3, 3, 2, -3, .5f},
               {-0.0f, 0, 0, kNan, -kInf, kInf, -0.0f, kInf});
  ExpectBinary(AluOp::kPower, {.5f, .5f, 2, -2, kInf, kInf, -2, -2, -1, kNan},
               {kInf, -kInf, kInf, -kInf, .25f, -1, 3, big, big + 2, 1},
               {0, kInf, kInf, 0, kInf, 0, -8, kInf, 1, kNan});
  ExpectBinary(AluOp::kPower, {2, kNan, -0.0f, -kInf, 3, -3, -3, 1},
               {kNan, kNan, .5f, -.5f, -0.0f, kNan, 0, kInf},
               {kNan, kNan, 0, 0, 1, kNan, 1, 1});
}

TEST(Alu, PowerIsExactWhereTheResultIs) {
  ExpectBinary(AluOp::kPower, {2, 3, 10, -3, 4, 0.125f, 9, 7, -5, 2, 2, 1.5f},
               {10, 15, 10, 3, -2, -2, 1.5f, 8, 1, -149, 127.5f, 2},
               {1024, 14348907, 10000000000, -27, 0.0625f, 64, 27, 5764801, -5,
                kTiny, 0x1.6a09e6p127f, 2.25f});
}

TEST(Alu, PowerRoundsExactTiesToEven) {
  // 4099^2 = 16801801 and 4101^2 = 16818201 lie between even fp32 integers;
  // so does 257^3 = 16974593.
  ExpectBinary(AluOp::kPower, {4099, 4101, 257, -257}, {2, 2, 3, 3},
               {16801800, 16818200, 16974592, -16974592});
}

// exp(b ln a) of the fp32 operands in 60-digit decimal arithmetic.
TEST(Alu, PowerIsRoundedFromTheExactValue) {
  ExpectBinary(
      AluOp::kPower, {2, 10, 1.1f, 0.3f, 7, 1.5f, 100},
      {0.1f, 0.3f, 50, 7.7f, -1.3f, 200, -18.5f},
      {1.07177346364329559260f, 1.99526236973674247102f,
       117.390980098673523166f, 9.41529417779122033039e-5f,
       7.96842681513681558254e-2f, 1.65291991078820803016e35f, 1.0e-37f});
}

TEST(Alu, TheScalarFormMayBeReversed) {
  const Floats a = Tiled({1, 2, 3, 8});
  OnEachTarget([&] {
    Floats out(a.size());
    AluRowScalar(AluOp::kSubtract, a.data(), 10, false, a.size(), out.data());
    ExpectRow(out, Tiled({-9, -8, -7, -2}), AluOp::kSubtract);
    AluRowScalar(AluOp::kSubtract, a.data(), 10, true, a.size(), out.data());
    ExpectRow(out, Tiled({9, 8, 7, 2}), AluOp::kSubtract);
    AluRowScalar(AluOp::kPower, a.data(), 2, true, a.size(), out.data());
    ExpectRow(out, Tiled({2, 4, 8, 256}), AluOp::kPower);
    AluRowScalar(AluOp::kLess, a.data(), 2, true, a.size(), out.data());
    ExpectRow(out, Tiled({0, 0, 1, 1}), AluOp::kLess);
  });
}

TEST(Alu, TheResultMayReplaceEitherOperand) {
  Floats a = Tiled({1, 2, 3});
  Floats b = Tiled({10, 20, 30});
  AluRows(AluOp::kSubtract, a.data(), b.data(), a.size(), b.data());
  ExpectRow(b, Tiled({-9, -18, -27}), AluOp::kSubtract);
  AluRows(AluOp::kAdd, a.data(), a.data(), a.size(), a.data());
  ExpectRow(a, Tiled({2, 4, 6}), AluOp::kAdd);
}

// ---- bfloat16 ----

std::vector<uint16_t> RandomBf16(uint32_t seed, size_t n) {
  std::mt19937 random(seed);
  std::vector<uint16_t> row(n);
  for (uint16_t& x : row) x = static_cast<uint16_t>(random());
  return row;
}

TEST(AluBf16, RoundsTheFp32ResultOnce) {
  // 1 + 2^-8 is a tie between 1 and 1 + 2^-7; 1 + 3 * 2^-8 one upwards.
  const std::vector<uint16_t> a = {0x3F80, 0x3F81, 0x7F7F, 0xFF80, 0x4040};
  const std::vector<uint16_t> b = {0x3B80, 0x3B80, 0x7F7F, 0x7F80, 0x4040};
  std::vector<uint16_t> out(a.size());
  ASSERT_TRUE(AluRowsBf16(AluOp::kAdd, a.data(), b.data(), 5, out.data()));
  EXPECT_EQ(out,
            (std::vector<uint16_t>{0x3F80, 0x3F82, 0x7F80, 0x7FC0, 0x40C0}));
  EXPECT_FALSE(AluRowsBf16(AluOp::kPower, a.data(), b.data(), 5, out.data()));
}

TEST(AluBf16, IsWhatTheThreeStepsGive) {
  const auto a = RandomBf16(1, 4099);
  const auto b = RandomBf16(2, 4099);
  const size_t n = a.size();
  const auto bytes = [](const std::vector<uint16_t>& row) {
    return reinterpret_cast<const std::byte*>(row.data());
  };
  Floats wide_a(n);
  Floats wide_b(n);
  WidenRow(Dtype::kBFloat16, bytes(a), 2, n, {}, wide_a.data());
  WidenRow(Dtype::kBFloat16, bytes(b), 2, n, {}, wide_b.data());
  for (const AluInfo& info : kAluOps) {
    if (!IsArithmetic(info.op) || info.arity != 2) continue;
    std::vector<uint16_t> fast(n);
    if (!AluRowsBf16(info.op, a.data(), b.data(), n, fast.data())) continue;
    Floats wide(n);
    AluRows(info.op, wide_a.data(), wide_b.data(), n, wide.data());
    std::vector<uint16_t> want(n);
    NarrowRow(wide.data(), n, Dtype::kBFloat16,
              reinterpret_cast<std::byte*>(want.data()), 2, {});
    EXPECT_EQ(fast, want) << info.name;
  }
}

}  // namespace
}  // namespace trnemu
