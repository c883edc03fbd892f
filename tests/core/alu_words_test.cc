// Bitvec and integer operations, and reductions, of core/numerics/alu.h.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/numerics/alu.h"
#include "gtest/gtest.h"
#include "tests/core/vector_targets.h"

namespace trnemu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Floats = std::vector<float>;
using Words = std::vector<uint32_t>;

// ---- Raw bits ----

template <typename T>
std::vector<T> Bitvec(AluOp op, const std::vector<T>& a,
                      const std::vector<T>& b) {
  std::vector<T> out(a.size());
  BitvecRows(op, sizeof(T), reinterpret_cast<const std::byte*>(a.data()),
             reinterpret_cast<const std::byte*>(b.data()), a.size(),
             reinterpret_cast<std::byte*>(out.data()));
  return out;
}

template <typename T>
std::vector<T> BitvecScalar(AluOp op, const std::vector<T>& a, uint32_t b,
                            bool reverse) {
  std::vector<T> out(a.size());
  BitvecRowScalar(op, sizeof(T), reinterpret_cast<const std::byte*>(a.data()),
                  b, reverse, a.size(),
                  reinterpret_cast<std::byte*>(out.data()));
  return out;
}

TEST(Bitvec, CombinesBitsOfEveryWidth) {
  OnEachTarget([] {
    using V8 = std::vector<uint8_t>;
    using V16 = std::vector<uint16_t>;
    using V32 = std::vector<uint32_t>;
    const V8 a(21, 0xCA);
    const V8 b(21, 0x9C);
    EXPECT_EQ(Bitvec(AluOp::kBitwiseAnd, a, b), V8(21, 0x88));
    EXPECT_EQ(Bitvec(AluOp::kBitwiseOr, a, b), V8(21, 0xDE));
    EXPECT_EQ(Bitvec(AluOp::kBitwiseXor, a, b), V8(21, 0x56));
    EXPECT_EQ(Bitvec(AluOp::kBitwiseXor, V16(21, 0xFF00), V16(21, 0x0FF0)),
              V16(21, 0xF0F0));
    EXPECT_EQ(Bitvec(AluOp::kBitwiseOr, V32(21, 0xF0000000), V32(21, 1)),
              V32(21, 0xF0000001));
  });
}

TEST(Bitvec, ShiftsAreLogicalAndGiveZeroFromTheWidthOn) {
  OnEachTarget([] {
    using V8 = std::vector<uint8_t>;
    using V16 = std::vector<uint16_t>;
    using V32 = std::vector<uint32_t>;
    EXPECT_EQ(Bitvec(AluOp::kRightShift, V8{0x80, 0x80, 0x80, 0x80, 0xFF},
                     V8{0, 7, 8, 255, 1}),
              (V8{0x80, 1, 0, 0, 0x7F}));
    EXPECT_EQ(
        Bitvec(AluOp::kLeftShift, V8{1, 1, 1, 0xFF, 3}, V8{7, 8, 33, 4, 0}),
        (V8{0x80, 0, 0, 0xF0, 3}));
    EXPECT_EQ(Bitvec(AluOp::kLeftShift, V16{1, 1, 0xFFFF}, V16{15, 16, 8}),
              (V16{0x8000, 0, 0xFF00}));
    const V32 ones(4, 0xFFFFFFFF);
    const V32 by = {31, 32, 0xFFFFFFFF, 0};
    EXPECT_EQ(Bitvec(AluOp::kRightShift, ones, by), (V32{1, 0, 0, 0xFFFFFFFF}));
    EXPECT_EQ(Bitvec(AluOp::kLeftShift, ones, by),
              (V32{0x80000000, 0, 0, 0xFFFFFFFF}));
  });
}

TEST(Bitvec, TheScalarFormMayBeReversedAndUsesTheElementsBits) {
  using V8 = std::vector<uint8_t>;
  const V8 a = {1, 2, 3};
  EXPECT_EQ(BitvecScalar(AluOp::kLeftShift, a, 1, false), (V8{2, 4, 6}));
  EXPECT_EQ(BitvecScalar(AluOp::kLeftShift, a, 1, true), (V8{2, 4, 8}));
  EXPECT_EQ(BitvecScalar(AluOp::kBitwiseOr, a, 0xFFFFFF10, false),
            (V8{0x11, 0x12, 0x13}));
}

TEST(Bitvec, InvertFlipsEveryBit) {
  const std::vector<uint16_t> a = {0, 0xFFFF, 0x00FF};
  std::vector<uint16_t> out(3);
  BitvecRowUnary(AluOp::kInvert, 2,
                 reinterpret_cast<const std::byte*>(a.data()), 3,
                 reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out, (std::vector<uint16_t>{0xFFFF, 0, 0xFF00}));
}

TEST(Bits, LoadZeroExtendsAndStoreKeepsTheLowBits) {
  const uint8_t bytes[] = {0xFF, 0x01, 0x80, 0x02, 0x7F, 0x03};
  Words words(3);
  LoadBits(Dtype::kInt8, reinterpret_cast<const std::byte*>(bytes), 2, 3,
           words.data());
  EXPECT_EQ(words, (Words{0xFF, 0x80, 0x7F}));
  LoadBits(Dtype::kInt16, reinterpret_cast<const std::byte*>(bytes), 2, 3,
           words.data());
  EXPECT_EQ(words, (Words{0x01FF, 0x0280, 0x037F}));
  uint16_t out[3] = {7, 7, 7};
  const Words in = {0xABCD1234, 0xFFFFFFFF};
  StoreBits(Dtype::kBFloat16, in.data(), 2, reinterpret_cast<std::byte*>(out),
            4);
  EXPECT_EQ(out[0], 0x1234);
  EXPECT_EQ(out[1], 7);
  EXPECT_EQ(out[2], 0xFFFF);
}

// ---- Integers ----

Words Integer(AluOp op, bool is_signed, const Words& a, const Words& b) {
  Words out(a.size());
  IntegerRows(op, is_signed, a.data(), b.data(), a.size(), out.data());
  return out;
}

TEST(Integer, ArithmeticWrapsModulo2To32) {
  OnEachTarget([] {
    const Words a = {0xFFFFFFFF, 0x7FFFFFFF, 100003, 0, 16777217};
    const Words b = {1, 1, 100003, 1, 16777217};
    EXPECT_EQ(Integer(AluOp::kAdd, true, a, b),
              (Words{0, 0x80000000, 200006, 1, 33554434}));
    EXPECT_EQ(Integer(AluOp::kSubtract, true, a, b),
              (Words{0xFFFFFFFE, 0x7FFFFFFE, 0, 0xFFFFFFFF, 0}));
    // 100003^2 = 10000600009 = 2 * 2^32 + 1410665417;
    // (2^24 + 1)^2 = 2^48 + 2^25 + 1.
    EXPECT_EQ(Integer(AluOp::kMultiply, false, a, b),
              (Words{0xFFFFFFFF, 0x7FFFFFFF, 1410665417, 0, 33554433}));
  });
}

TEST(Integer, OrderDependsOnSignedness) {
  OnEachTarget([] {
    const Words a = {0xFFFFFFFF, 1, 5};
    const Words b = {1, 0xFFFFFFFF, 5};
    EXPECT_EQ(Integer(AluOp::kMaximum, true, a, b), (Words{1, 1, 5}));
    EXPECT_EQ(Integer(AluOp::kMaximum, false, a, b),
              (Words{0xFFFFFFFF, 0xFFFFFFFF, 5}));
    EXPECT_EQ(Integer(AluOp::kMinimum, true, a, b),
              (Words{0xFFFFFFFF, 0xFFFFFFFF, 5}));
    EXPECT_EQ(Integer(AluOp::kMinimum, false, a, b), (Words{1, 1, 5}));
    EXPECT_EQ(Integer(AluOp::kGreater, true, a, b), (Words{0, 1, 0}));
    EXPECT_EQ(Integer(AluOp::kGreater, false, a, b), (Words{1, 0, 0}));
    EXPECT_EQ(Integer(AluOp::kLess, true, a, b), (Words{1, 0, 0}));
    EXPECT_EQ(Integer(AluOp::kLess, false, a, b), (Words{0, 1, 0}));
    EXPECT_EQ(Integer(AluOp::kGreaterEqual, true, a, b), (Words{0, 1, 1}));
    EXPECT_EQ(Integer(AluOp::kLessEqual, true, a, b), (Words{1, 0, 1}));
    EXPECT_EQ(Integer(AluOp::kEqual, true, a, b), (Words{0, 0, 1}));
    EXPECT_EQ(Integer(AluOp::kNotEqual, true, a, b), (Words{1, 1, 0}));
  });
}

TEST(Integer, LogicalOperationsGiveOneOrZero) {
  const Words a = {0, 0, 2, 0x80000000};
  const Words b = {0, 4, 0, 8};
  EXPECT_EQ(Integer(AluOp::kLogicalAnd, true, a, b), (Words{0, 0, 0, 1}));
  EXPECT_EQ(Integer(AluOp::kLogicalOr, true, a, b), (Words{0, 1, 1, 1}));
  EXPECT_EQ(Integer(AluOp::kLogicalXor, true, a, b), (Words{0, 1, 1, 0}));
  Words out(4);
  IntegerRowScalar(AluOp::kSubtract, true, a.data(), 1, true, 4, out.data());
  EXPECT_EQ(out, (Words{1, 1, 0xFFFFFFFF, 0x80000001}));
}

TEST(Integer, TheLargerMagnitudeKeepsItsSignAndATieGivesTheSecond) {
  OnEachTarget([] {
    // -2^31 against 2^31 - 1; -5 against 5 and back; 2^24 + 1 against 2^24
    const Words a = {0x80000000, 0xFFFFFFFB, 5, 16777217, 0};
    const Words b = {0x7FFFFFFF, 5, 0xFFFFFFFB, 16777216, 0xFFFFFFFF};
    EXPECT_EQ(Integer(AluOp::kAbsMax, true, a, b),
              (Words{0x80000000, 5, 0xFFFFFFFB, 16777217, 0xFFFFFFFF}));
    EXPECT_EQ(Integer(AluOp::kAbsMin, true, a, b),
              (Words{0x7FFFFFFF, 5, 0xFFFFFFFB, 16777216, 0}));
    EXPECT_EQ(
        Integer(AluOp::kAbsMax, false, a, b),
        (Words{0x80000000, 0xFFFFFFFB, 0xFFFFFFFB, 16777217, 0xFFFFFFFF}));
  });
}

// ---- Reductions ----

TEST(Reduce, AddsStrictlyInOrder) {
  // 2^24 swallows ones that come after it, one at a time; a sum in pairs, or
  // from the other end, would not.
  Floats row(41, 1.0f);
  row[0] = 16777216;
  const float* rows[] = {row.data()};
  float acc[] = {ReduceIdentity(AluOp::kAdd)};
  ReduceRows(AluOp::kAdd, rows, 1, row.size(), acc);
  EXPECT_EQ(acc[0], 16777216);
  row[0] = 1;
  row[40] = 16777216;
  acc[0] = 0;
  ReduceRows(AluOp::kAdd, rows, 1, row.size(), acc);
  EXPECT_EQ(acc[0], 16777256);  // 40 + 2^24
}

TEST(Reduce, EveryNumberOfRowsAndColumnsGivesTheSequentialSum) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (size_t num_rows : {1, 3, 4, 5, 16, 19, 23, 128}) {
    for (size_t n : {0, 1, 3, 4, 7, 64, 131}) {
      std::vector<Floats> data(num_rows, Floats(n));
      std::vector<const float*> rows;
      Floats acc;
      Floats want;
      for (Floats& row : data) {
        float sum = uniform(random);
        acc.push_back(sum);
        for (float& x : row) sum += x = uniform(random);
        want.push_back(sum);
        rows.push_back(row.data());
      }
      OnEachTarget([&] {
        Floats got = acc;
        ReduceRows(AluOp::kAdd, rows.data(), num_rows, n, got.data());
        EXPECT_EQ(got, want) << num_rows << " rows of " << n;
      });
    }
  }
}

float ReduceOne(AluOp op, const Floats& row, float seed) {
  const float* rows[] = {row.data()};
  float acc[] = {seed};
  ReduceRows(op, rows, 1, row.size(), acc);
  return acc[0];
}

TEST(Reduce, SubtractTakesEachElementFromTheSeed) {
  EXPECT_EQ(ReduceOne(AluOp::kSubtract, {2, 3, 4, 5, 6}, 100), 80);
}

TEST(Reduce, TheOtherOperationsReduceFromTheirIdentity) {
  const Floats row = {3, -7, 2, kNan, 0.5f};
  const auto reduce = [&](AluOp op) {
    return ReduceOne(op, row, ReduceIdentity(op));
  };
  EXPECT_EQ(reduce(AluOp::kMaximum), 3);
  EXPECT_EQ(reduce(AluOp::kMinimum), -7);
  EXPECT_EQ(reduce(AluOp::kAbsMax), -7);
  EXPECT_EQ(reduce(AluOp::kAbsMin), 0.5f);
  EXPECT_EQ(reduce(AluOp::kLogicalAnd), 1);
  EXPECT_EQ(reduce(AluOp::kLogicalOr), 1);
  EXPECT_EQ(reduce(AluOp::kLogicalXor), 1);
  EXPECT_EQ(std::bit_cast<uint32_t>(reduce(AluOp::kAdd)), 0x7FC00000u);
  EXPECT_EQ(ReduceOne(AluOp::kMultiply, {3, -7, 2}, 1), -42);
  EXPECT_EQ(ReduceOne(AluOp::kMaximum, {kNan, kNan}, -kInf), -kInf);
}

TEST(Reduce, WordsFoldBitwiseAndAsIntegers) {
  const Words row = {0xF0, 0x3C, 0x80000000};
  const auto reduce = [&](AluOp op, bool is_signed) {
    return ReduceWords(op, is_signed, row.data(), 3,
                       ReduceIdentityWord(op, is_signed));
  };
  EXPECT_EQ(reduce(AluOp::kBitwiseAnd, false), 0u);
  EXPECT_EQ(reduce(AluOp::kBitwiseOr, false), 0x800000FCu);
  EXPECT_EQ(reduce(AluOp::kBitwiseXor, false), 0x800000CCu);
  EXPECT_EQ(reduce(AluOp::kAdd, false), 0x8000012Cu);
  EXPECT_EQ(reduce(AluOp::kMaximum, false), 0x80000000u);
  EXPECT_EQ(reduce(AluOp::kMaximum, true), 0xF0u);
  EXPECT_EQ(reduce(AluOp::kMinimum, true), 0x80000000u);
  EXPECT_EQ(reduce(AluOp::kLogicalAnd, true), 1u);
}

}  // namespace
}  // namespace trnemu
