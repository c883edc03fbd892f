// Against a scalar reference written from the rule in spec/decisions.md,
// "Silicon fingerprints": explicit loops, std::fma, nothing shared with the
// kernels. Everything is compared bit by bit.
#include "core/numerics/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "hwy/targets.h"

namespace trnemu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t kNanBits = 0x7FC00000;
constexpr float kUntouched = -77.0f;

// A row-major matrix, each row followed by two elements that nobody may touch.
struct Matrix {
  Matrix(size_t rows_in, size_t columns_in, float value = 0.0f)
      : rows(rows_in),
        columns(columns_in),
        stride(columns_in + 2),
        values(rows_in * stride, kUntouched) {
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) at(r, c) = value;
    }
  }
  float& at(size_t r, size_t c) { return values[r * stride + c]; }
  float at(size_t r, size_t c) const { return values[r * stride + c]; }
  const float* data() const { return values.data(); }
  float* data() { return values.data(); }

  size_t rows, columns, stride;
  std::vector<float> values;
};

uint32_t Bits(float x) {
  return std::isnan(x) ? kNanBits : std::bit_cast<uint32_t>(x);
}

// The reference, one output at a time.

float Chain(const Matrix& s, const Matrix& v, size_t m, size_t n, size_t begin,
            size_t end) {
  float sum = 0.0f;
  for (size_t k = begin; k < end; ++k) {
    sum = std::fma(s.at(k, m), v.at(k, n), sum);
  }
  return sum;
}

float Groups(const Matrix& s, const Matrix& v, size_t m, size_t n,
             size_t group) {
  float sum = Chain(s, v, m, n, 0, std::min(group, s.rows));
  for (size_t k = group; k < s.rows; k += group) {
    sum = sum + Chain(s, v, m, n, k, std::min(k + group, s.rows));
  }
  return sum;
}

float Exact(const Matrix& s, const Matrix& v, size_t m, size_t n) {
  double sum = 0.0;
  for (size_t k = 0; k < s.rows; ++k) {
    sum += double{s.at(k, m)} * double{v.at(k, n)};
  }
  return static_cast<float>(sum);
}

float Reference(MatmulRule rule, const Matrix& s, const Matrix& v, size_t m,
                size_t n, size_t group = 32) {
  if (rule == MatmulRule::kExact) return Exact(s, v, m, n);
  if (rule == MatmulRule::kChain) return Chain(s, v, m, n, 0, s.rows);
  return Groups(s, v, m, n, group);
}

float Hi(float x) {
  if (!std::isfinite(x)) return x;
  int exponent;
  const float fraction = std::frexp(x, &exponent);  // 0.5 <= |fraction| < 1
  // Subnormals have fewer significant bits: cut at the same stored bit.
  const int kept = std::min(12, exponent + 137);
  return std::ldexp(std::trunc(std::ldexp(fraction, kept)), exponent - kept);
}
float Lo(float x) { return std::isfinite(x) ? x - Hi(x) : 0.0f; }

Matrix Map(const Matrix& x, float (*f)(float)) {
  Matrix y = x;
  for (float& value : y.values) value = f(value);
  return y;
}

// Random matrices.

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}

  // Standard normal, sometimes far larger or smaller, sometimes +0 or -0.
  float Value() {
    const unsigned kind = generator_() % 16;
    const float x = normal_(generator_);
    if (kind == 0) return std::copysign(0.0f, x);
    if (kind == 1) return std::ldexp(x, 40);
    if (kind == 2) return std::ldexp(x, -70);
    return x;
  }
  Matrix Fp32(size_t rows, size_t columns) {
    Matrix matrix(rows, columns);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) matrix.at(r, c) = Value();
    }
    return matrix;
  }
  Matrix Bf16(size_t rows, size_t columns) {
    return Map(Fp32(rows, columns), [](float x) {
      return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xFFFF0000u);
    });
  }

 private:
  std::mt19937 generator_;
  std::normal_distribution<float> normal_;
};

std::vector<uint16_t> Bf16Bits(const Matrix& x) {
  std::vector<uint16_t> bits;
  for (float value : x.values) {
    bits.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  }
  return bits;
}

// The functions under test, on matrices.

Matrix Multiply(const Matrix& s, const Matrix& v, MatmulRule rule,
                size_t group = 32) {
  const auto stationary = std::make_unique<Stationary>();
  stationary->Load(s.data(), s.stride, s.rows, s.columns, group);
  Matrix psum(s.columns, v.columns);
  MultiplyMoving(*stationary, v.data(), v.stride, v.columns, rule, psum.data(),
                 psum.stride);
  return psum;
}

void MultiplyFp32(const Matrix& s, const Matrix& v, MatmulRule rule,
                  PsumWrite first, Matrix& psum) {
  const auto stationary = std::make_unique<Stationary>();
  stationary->LoadHalf(Fp32Half::kLo, rule, s.data(), s.stride, s.rows,
                       s.columns);
  MultiplyMovingFp32Pass(*stationary, v.data(), v.stride, v.columns, rule,
                         psum.data(), psum.stride, first);
  stationary->LoadHalf(Fp32Half::kHi, rule, s.data(), s.stride, s.rows,
                       s.columns);
  MultiplyMovingFp32Pass(*stationary, v.data(), v.stride, v.columns, rule,
                         psum.data(), psum.stride, PsumWrite::kAccumulate);
}

void ExpectSameBits(const Matrix& actual, const Matrix& expected) {
  ASSERT_EQ(actual.values.size(), expected.values.size());
  for (size_t i = 0; i < actual.values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(actual.values[i]),
              Bits(expected.values[i]))
        << "row " << i / actual.stride << " column " << i % actual.stride
        << ": " << actual.values[i] << " instead of " << expected.values[i];
  }
}

template <typename F>
Matrix Outputs(size_t rows, size_t columns, F value) {
  Matrix matrix(rows, columns);
  for (size_t m = 0; m < rows; ++m) {
    for (size_t n = 0; n < columns; ++n) matrix.at(m, n) = value(m, n);
  }
  return matrix;
}

constexpr MatmulRule kRules[] = {MatmulRule::kSilicon, MatmulRule::kChain,
                                 MatmulRule::kExact};
constexpr size_t kRowCounts[] = {1, 2, 31, 32, 33, 63, 64, 100, 127, 128};

struct Shape {
  size_t m, n;
};
// Every remainder of a block of stationary columns and of a panel.
constexpr Shape kShapes[] = {{1, 1},   {2, 17},  {3, 32},  {4, 31},  {5, 5},
                             {6, 16},  {7, 33},  {8, 64},  {9, 2},   {11, 8},
                             {12, 48}, {13, 15}, {16, 32}, {31, 7},  {64, 36},
                             {100, 3}, {122, 1}, {127, 9}, {128, 40}};

// Runs each test on every instruction set the kernels were built for and this
// machine has.
class MatmulKernelTest : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { Choose(GetParam()); }
  void TearDown() override { Choose(0); }  // whatever there is

 private:
  static void Choose(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

std::vector<int64_t> Targets() {
  std::vector<int64_t> targets;
  for (const int64_t target : {HWY_AVX2, HWY_AVX3, HWY_NEON}) {
    if (hwy::SupportedTargets() & target) targets.push_back(target);
  }
  return targets;
}
INSTANTIATE_TEST_SUITE_P(, MatmulKernelTest, testing::ValuesIn(Targets()),
                         [](const auto& tested) {
                           return hwy::TargetName(tested.param);
                         });

TEST_P(MatmulKernelTest, EachRuleRoundsWhereItSays) {
  // 2^24 and then 63 ones, each of which is half a unit of the last place.
  Matrix s(64, 1, 1.0f);
  Matrix v(64, 1, 1.0f);
  v.at(0, 0) = 16777216.0f;
  EXPECT_EQ(Multiply(s, v, MatmulRule::kChain).at(0, 0), 16777216.0f);
  EXPECT_EQ(Multiply(s, v, MatmulRule::kSilicon).at(0, 0), 16777248.0f);
  EXPECT_EQ(Multiply(s, v, MatmulRule::kExact).at(0, 0), 16777280.0f);
}

TEST_P(MatmulKernelTest, NarrowInputsFollowTheRuleForEveryShape) {
  Random random(1);
  for (const MatmulRule rule : kRules) {
    for (const size_t k : kRowCounts) {
      for (const auto [m, n] : kShapes) {
        const Matrix s = random.Bf16(k, m);
        const Matrix v = random.Bf16(k, n);
        const Matrix expected = Outputs(m, n, [&](size_t row, size_t column) {
          return Reference(rule, s, v, row, column);
        });
        SCOPED_TRACE(testing::Message() << "K " << k << " M " << m << " N " << n
                                        << " rule " << static_cast<int>(rule));
        ExpectSameBits(Multiply(s, v, rule), expected);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(MatmulKernelTest, AFullTileFollowsTheRule) {
  Random random(2);
  const Matrix s = random.Bf16(128, 128);
  const Matrix v = random.Bf16(128, 512);
  for (const MatmulRule rule : kRules) {
    ExpectSameBits(Multiply(s, v, rule), Outputs(128, 512, [&](auto m, auto n) {
                     return Reference(rule, s, v, m, n);
                   }));
  }
}

TEST_P(MatmulKernelTest, Bf16BitPatternsGiveWhatWidenedValuesGive) {
  Random random(3);
  for (const auto [m, n] : kShapes) {
    const Matrix s = random.Bf16(77, m);
    const Matrix v = random.Bf16(77, n);
    const auto s_bits = Bf16Bits(s), v_bits = Bf16Bits(v);
    const auto stationary = std::make_unique<Stationary>();
    stationary->LoadBf16(s_bits.data(), s.stride, s.rows, s.columns);
    Matrix psum(m, n);
    MultiplyMovingBf16(*stationary, v_bits.data(), v.stride, n,
                       MatmulRule::kSilicon, psum.data(), psum.stride);
    ExpectSameBits(psum, Multiply(s, v, MatmulRule::kSilicon));
  }
}

TEST_P(MatmulKernelTest, AtGivesWhatWasLoaded) {
  Random random(6);
  for (size_t columns = 1; columns <= 128; ++columns) {
    const Matrix s = random.Bf16(5, columns);
    const auto stationary = std::make_unique<Stationary>();
    stationary->Load(s.data(), s.stride, s.rows, columns);
    for (size_t k = 0; k < 5; ++k) {
      for (size_t m = 0; m < columns; ++m) {
        ASSERT_EQ(stationary->At(k, m), s.at(k, m)) << columns;
      }
    }
  }
}

TEST_P(MatmulKernelTest, SeveralLogicalRowsShareAGroup) {
  Random random(4);
  for (const size_t group : {64, 128}) {  // double_row, MX
    for (const size_t k : {10, 64, 200, 256, 512}) {
      const Matrix s = random.Bf16(k, 9);
      const Matrix v = random.Bf16(k, 20);
      ExpectSameBits(Multiply(s, v, MatmulRule::kSilicon, group),
                     Outputs(9, 20, [&](size_t m, size_t n) {
                       return Groups(s, v, m, n, group);
                     }));
    }
  }
}

TEST_P(MatmulKernelTest, AccumulatingAddsTheRoundedSumOnce) {
  Random random(5);
  for (const auto [m, n] : kShapes) {
    const Matrix s = random.Bf16(40, m);
    const Matrix v = random.Bf16(40, n);
    const Matrix old = random.Fp32(m, n);
    Matrix psum = old;
    const auto stationary = std::make_unique<Stationary>();
    stationary->Load(s.data(), s.stride, s.rows, m);
    MultiplyMoving(*stationary, v.data(), v.stride, n, MatmulRule::kSilicon,
                   psum.data(), psum.stride, PsumWrite::kAccumulate);
    ExpectSameBits(psum, Outputs(m, n, [&](size_t row, size_t column) {
                     return old.at(row, column) + Groups(s, v, row, column, 32);
                   }));
  }
}

TEST_P(MatmulKernelTest, Fp32TakesLoThenHiPasses) {
  Random random(6);
  for (const size_t k : kRowCounts) {
    for (const auto [m, n] : kShapes) {
      const Matrix s = random.Fp32(k, m), v = random.Fp32(k, n);
      const Matrix sl = Map(s, Lo), sh = Map(s, Hi);
      const Matrix vl = Map(v, Lo), vh = Map(v, Hi);
      const Matrix old = random.Fp32(m, n);
      Matrix psum = old;
      MultiplyFp32(s, v, MatmulRule::kSilicon, PsumWrite::kAccumulate, psum);
      ExpectSameBits(psum, Outputs(m, n, [&](size_t i, size_t j) {
                       const float lo_pass =
                           Groups(sl, vl, i, j, 32) + Groups(sl, vh, i, j, 32);
                       const float hi_pass =
                           Groups(sh, vl, i, j, 32) + Groups(sh, vh, i, j, 32);
                       return (old.at(i, j) + lo_pass) + hi_pass;
                     }));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(MatmulKernelTest, WithoutHalvesTheTwoPassesAreOneSum) {
  Random random(7);
  for (const MatmulRule rule : {MatmulRule::kChain, MatmulRule::kExact}) {
    for (const auto [m, n] : kShapes) {
      const Matrix s = random.Fp32(100, m), v = random.Fp32(100, n);
      Matrix psum(m, n, kNan);
      MultiplyFp32(s, v, rule, PsumWrite::kOverwrite, psum);
      ExpectSameBits(psum, Outputs(m, n, [&](size_t i, size_t j) {
                       return 0.0f + Reference(rule, s, v, i, j);
                     }));
    }
  }
}

TEST_P(MatmulKernelTest, AnInfinityWithoutHalvesStaysAnInfinity) {
  const Matrix s(1, 1, 2.0f);
  const Matrix v(1, 1, kInf);
  for (const MatmulRule rule : {MatmulRule::kChain, MatmulRule::kExact}) {
    Matrix psum(1, 1);
    MultiplyFp32(s, v, rule, PsumWrite::kOverwrite, psum);
    EXPECT_EQ(psum.at(0, 0), kInf);
  }
}

TEST_P(MatmulKernelTest, SumsStartFromPlusZero) {
  const Matrix s(2, 6, -0.0f);
  const Matrix v(2, 16, 1.0f);
  for (const MatmulRule rule : kRules) {
    EXPECT_EQ(Bits(Multiply(s, v, rule).at(0, 0)), 0u);
  }
}

TEST_P(MatmulKernelTest, NanAndInfinityReachOnlyTheirOwnRowsAndColumns) {
  for (const MatmulRule rule : kRules) {
    Random random(8);
    Matrix s = random.Bf16(70, 13), v = random.Bf16(70, 37);
    s.at(3, 2) = kInf;
    s.at(69, 5) = std::bit_cast<float>(0xFFC12345u);  // a negative NaN
    v.at(3, 1) = 0.0f;
    v.at(40, 36) = -kInf;
    v.at(41, 36) = kInf;
    const Matrix psum = Multiply(s, v, rule);
    ExpectSameBits(psum, Outputs(13, 37, [&](size_t m, size_t n) {
                     return Reference(rule, s, v, m, n);
                   }));
    EXPECT_EQ(std::bit_cast<uint32_t>(psum.at(2, 1)), kNanBits);  // Inf * 0
    EXPECT_EQ(std::bit_cast<uint32_t>(psum.at(5, 0)), kNanBits);
    EXPECT_TRUE(std::isinf(psum.at(2, 0)));
    EXPECT_TRUE(std::isfinite(psum.at(0, 0)));
  }
}

TEST_P(MatmulKernelTest, NanThatWasInPsumBecomesTheCanonicalOne) {
  std::vector<float> psum(11, std::bit_cast<float>(0xFFC12345u));
  const std::vector<float> sums(11, 1.0f);
  AccumulateRow(psum.data(), sums.data(), 11);
  for (float x : psum) EXPECT_EQ(std::bit_cast<uint32_t>(x), kNanBits);
}

TEST_P(MatmulKernelTest, AccumulateRowAddsInFp32UpToTheLastElement) {
  for (size_t n = 0; n < 70; ++n) {
    Random random(9);
    Matrix psum = random.Fp32(1, n);
    const Matrix sums = random.Fp32(1, n);
    const Matrix expected = Outputs(
        1, n, [&](size_t, size_t i) { return psum.at(0, i) + sums.at(0, i); });
    AccumulateRow(psum.data(), sums.data(), n);
    ExpectSameBits(psum, expected);
  }
}

TEST_P(MatmulKernelTest, ATileWithoutRowsGivesPlusZeroOverNan) {
  const auto stationary = std::make_unique<Stationary>();
  stationary->Load(nullptr, 0, 0, 7);
  for (const MatmulRule rule : kRules) {
    Matrix psum(7, 33, kNan);
    MultiplyMoving(*stationary, nullptr, 0, 33, rule, psum.data(), psum.stride);
    ExpectSameBits(psum, Matrix(7, 33, 0.0f));
  }
}

TEST(SplitHalvesTest, TruncatesTo11StoredBitsAndKeepsTheRest) {
  const std::vector<float> x = {1.0f,       0x1.FFFFFEp0f,    -0x1.FFFFFEp0f,
                                0x1.001p0f, 0x1.000FFEp-3f,   -0.0f,
                                0x1p-149f,  0x1.234568p-130f, 3.4028235e38f};
  std::vector<float> hi(x.size()), lo(x.size());
  SplitHalves(x.data(), x.size(), hi.data(), lo.data());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(Bits(hi[i]), Bits(Hi(x[i]))) << x[i];
    EXPECT_EQ(Bits(hi[i]) & 0xFFFu, 0u) << x[i];
    EXPECT_EQ(double{hi[i]} + double{lo[i]}, double{x[i]});
  }
  EXPECT_EQ(hi[1], 0x1.FFEp0f);
  EXPECT_EQ(lo[1], 0x1.FFEp-12f);
}

TEST(SplitHalvesTest, AValueThatIsNotFiniteIsAllHi) {
  const float x[] = {kInf, -kInf, kNan};
  float hi[3], lo[3];
  SplitHalves(x, 3, hi, lo);
  EXPECT_EQ(hi[0], kInf);
  EXPECT_EQ(hi[1], -kInf);
  EXPECT_TRUE(std::isnan(hi[2]));
  for (float value : lo) EXPECT_EQ(Bits(value), 0u);
}

TEST(StationaryTest, BlocksCoverTheColumnsAndFitTheStorage) {
  for (size_t columns = 0; columns <= Stationary::kMaxColumns; ++columns) {
    size_t m = Stationary::FullBlocks(columns) * Stationary::kBlockColumns;
    ASSERT_LE(m, columns);
    size_t width = m;
    for (size_t block; m < columns; m += block) {
      block = Stationary::TailBlock(columns - m);
      ASSERT_TRUE(block == 1 || block == 2 || block == 4 || block == 6);
      width += block;
    }
    ASSERT_LE(width, Stationary::kMaxColumns);
  }
}

}  // namespace
}  // namespace trnemu
