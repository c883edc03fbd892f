// The activation functions against literals: limits, special values, ranges,
// and the bits themselves.

#include "core/numerics/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "hwy/targets.h"

namespace trnemu {
namespace {

using F = ActFunction;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = 0x1p-149f;

float Eval(F f, float x) {
  float y;
  ActivationRow(f, &x, 1, &y);
  return y;
}

TEST(ActivationTest, ExpOfZeroIsOneAndOfMinusInfinityIsZero) {
  EXPECT_EQ(Eval(F::kExp, 0.0f), 1.0f);
  EXPECT_EQ(Eval(F::kExp, -0.0f), 1.0f);
  EXPECT_EQ(Eval(F::kExp, -kInf), 0.0f);
  EXPECT_FALSE(std::signbit(Eval(F::kExp, -kInf)));
}

TEST(ActivationTest, ExpOverflowsAndUnderflowsWhereItShould) {
  EXPECT_TRUE(std::isfinite(Eval(F::kExp, 0x1.62e42ep+6f)));
  EXPECT_EQ(Eval(F::kExp, 0x1.62e430p+6f), kInf);
  EXPECT_EQ(Eval(F::kExp, kInf), kInf);
  EXPECT_EQ(Eval(F::kExp, kMax), kInf);
  EXPECT_EQ(Eval(F::kExp, -103.9f), kTiny);
  EXPECT_EQ(Eval(F::kExp, -103.98f), 0.0f);
  EXPECT_EQ(Eval(F::kExp, -kMax), 0.0f);
  EXPECT_EQ(Eval(F::kExp, -90.0f), 0x1.1d85p-130f);
}

TEST(ActivationTest, SinHasNoRangeReduction) {
  EXPECT_NEAR(Eval(F::kSin, 9.0f), 27.65, 0.01);
  EXPECT_EQ(Eval(F::kSin, -9.0f), -Eval(F::kSin, 9.0f));
  EXPECT_NEAR(Eval(F::kSin, 1.0f), 0.8414709848, 1e-7);
  EXPECT_EQ(Eval(F::kSin, kInf), kInf);
  EXPECT_EQ(Eval(F::kSin, -kInf), -kInf);
  EXPECT_EQ(Eval(F::kSin, kMax), kInf);
  // Both neighbours of pi, on the polynomial and on the cubic.
  EXPECT_EQ(Eval(F::kSin, 0x1.921fb4p+1f), 0x1.4442d2p-23f);
  EXPECT_EQ(Eval(F::kSin, 0x1.921fb6p+1f), -0x1.777a5cp-24f);
}

TEST(ActivationTest, LimitsAtInfinityAreRight) {
  const struct {
    F function;
    float at_minus, at_plus;
  } rows[] = {
      {F::kCopy, -kInf, kInf},
      {F::kSquare, kInf, kInf},
      {F::kSigmoid, 0, 1},
      {F::kRelu, 0, kInf},
      {F::kGelu, 0, kInf},
      {F::kGeluDx, 0, 1},
      {F::kGeluApprxTanh, 0, kInf},
      {F::kGeluApprxSigmoid, 0, kInf},
      {F::kGeluApprxSigmoidDx, 0, 1},
      {F::kSilu, 0, kInf},
      {F::kSiluDx, 0, 1},
      {F::kTanh, -1, 1},
      {F::kSoftplus, 0, kInf},
      {F::kMish, 0, kInf},
      {F::kErf, -1, 1},
      {F::kErfDx, 0, 0},
      {F::kExp, 0, kInf},
      {F::kArctan, -0x1.921fb6p+0f, 0x1.921fb6p+0f},
      {F::kReciprocal, 0, 0},
      {F::kSign, -1, 1},
      {F::kAbs, kInf, kInf},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Eval(row.function, -kInf), row.at_minus) << Name(row.function);
    EXPECT_EQ(Eval(row.function, kInf), row.at_plus) << Name(row.function);
  }
  EXPECT_EQ(Eval(F::kLog, kInf), kInf);
  EXPECT_EQ(Eval(F::kSqrt, kInf), kInf);
  EXPECT_EQ(Eval(F::kRsqrt, kInf), 0.0f);
}

TEST(ActivationTest, PolesAndArgumentsOutsideTheDomainFollowIeee) {
  EXPECT_EQ(Eval(F::kLog, 0.0f), -kInf);
  EXPECT_EQ(Eval(F::kLog, 1.0f), 0.0f);
  EXPECT_EQ(Eval(F::kReciprocal, 0.0f), kInf);
  EXPECT_EQ(Eval(F::kReciprocal, -0.0f), -kInf);
  EXPECT_EQ(Eval(F::kRsqrt, 0.0f), kInf);
  EXPECT_EQ(Eval(F::kRsqrt, 4.0f), 0.5f);
  for (F f : {F::kLog, F::kSqrt, F::kRsqrt}) {
    for (float x : {-1.0f, -kTiny, -kInf}) {
      EXPECT_EQ(std::bit_cast<uint32_t>(Eval(f, x)), 0x7fc00000u)
          << Name(f) << "(" << x << ")";
    }
  }
}

TEST(ActivationTest, ANanGivesTheCanonicalNanExceptThroughReluCopyAndAbs) {
  const float payload = std::bit_cast<float>(0xffc12345u);
  for (const ActInfo& info : kActFunctions) {
    const uint32_t y = std::bit_cast<uint32_t>(Eval(info.function, payload));
    const uint32_t expected = info.function == F::kRelu   ? 0u
                              : info.function == F::kCopy ? 0xffc12345u
                              : info.function == F::kAbs  ? 0x7fc12345u
                                                          : 0x7fc00000u;
    EXPECT_EQ(y, expected) << info.name;
  }
}

TEST(ActivationTest, ZeroKeepsItsSignThroughOddFunctions) {
  for (F f : {F::kGelu, F::kSilu, F::kTanh, F::kErf, F::kSin, F::kArctan,
              F::kMish, F::kSqrt}) {
    EXPECT_TRUE(std::signbit(Eval(f, -0.0f))) << Name(f);
    EXPECT_FALSE(std::signbit(Eval(f, 0.0f))) << Name(f);
    EXPECT_EQ(Eval(f, -0.0f), 0.0f) << Name(f);
  }
}

TEST(ActivationTest, SignReluAndPreluAreAsDocumented) {
  EXPECT_EQ(Eval(F::kSign, -3.0f), -1.0f);
  EXPECT_EQ(Eval(F::kSign, kTiny), 1.0f);
  EXPECT_EQ(std::bit_cast<uint32_t>(Eval(F::kSign, -0.0f)), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(Eval(F::kRelu, -0.0f)), 0u);
  EXPECT_EQ(Eval(F::kRelu, -kInf), 0.0f);
  EXPECT_EQ(Eval(F::kPrelu, -2.0f), 0.0f);
  EXPECT_TRUE(std::isnan(Eval(F::kPrelu, -kInf)));
  const float x[] = {-2.0f, 3.0f, -kInf, kNan, 0.0f};
  float y[5];
  PreluRow(x, 5, 0.25f, y);
  EXPECT_EQ(y[0], -0.5f);
  EXPECT_EQ(y[1], 3.0f);
  EXPECT_EQ(y[2], -kInf);
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_EQ(y[4], 0.0f);
}

// Bit for bit, NaN included.
bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](float u, float v) {
        return std::bit_cast<uint32_t>(u) == std::bit_cast<uint32_t>(v);
      });
}

TEST(ActivationTest, AnElementDoesNotDependOnItsPlaceInTheRow) {
  std::vector<float> x(67);
  for (int i = 0; i < 67; ++i) x[i] = 0.37f * (i - 33);
  x[20] = -kInf;  // exp takes another path for the vectors about it
  for (const ActInfo& info : kActFunctions) {
    std::vector<float> alone(x.size());
    for (size_t i = 0; i < x.size(); ++i) alone[i] = Eval(info.function, x[i]);
    for (size_t n = 0; n <= x.size(); ++n) {
      std::vector<float> expected(alone.begin(), alone.begin() + n);
      expected.push_back(7.0f);  // must stay
      std::vector<float> row(x.begin(), x.begin() + n);
      row.push_back(7.0f);
      ActivationRow(info.function, row.data(), n, row.data());
      ASSERT_TRUE(SameBits(row, expected)) << info.name << " of " << n;
    }
  }
}

// FNV-1a over every 65521st bit pattern.
uint64_t Fingerprint(F f) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65521) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (int i = -2000; i < 2000; ++i) x.push_back(0.0078f * i);
  ActivationRow(f, x.data(), x.size(), x.data());
  uint64_t hash = 0xcbf29ce484222325;
  for (float v : x) {
    hash = (hash ^ std::bit_cast<uint32_t>(v)) * 0x100000001b3;
  }
  return hash;
}

TEST(ActivationTest, BitsAreTheSameOnEveryProcessorAndBuild) {
  const std::pair<F, uint64_t> fingerprints[] = {
      {F::kCopy, 0x60d0935da709bc5c},
      {F::kSquare, 0x2e0e8888ba40ae72},
      {F::kSigmoid, 0x1eb16ec05686f09d},
      {F::kRelu, 0xeb6a96d9aa1c8a97},
      {F::kPrelu, 0xe3c6456f145c8a97},
      {F::kGelu, 0x6eada9fc1785d4ff},
      {F::kGeluDx, 0xa59557b2d107ee9c},
      {F::kGeluApprxTanh, 0x6a27b9d61ad66137},
      {F::kGeluApprxSigmoid, 0x68334a6484394018},
      {F::kGeluApprxSigmoidDx, 0xb88b6d90cef18726},
      {F::kSilu, 0xe18b9ebfe7be430d},
      {F::kSiluDx, 0x9a84fa0b203525b7},
      {F::kTanh, 0xcd4868c3597f5e46},
      {F::kSoftplus, 0x9d74e3ef7a15b7ea},
      {F::kMish, 0x779c1f42c3515327},
      {F::kErf, 0x149192f433dafdb3},
      {F::kErfDx, 0x2bc2f153e52ec7d9},
      {F::kExp, 0x7612a8e015f4c57c},
      {F::kLog, 0x8105c027d0cfe418},
      {F::kSin, 0x824717b0f73de850},
      {F::kArctan, 0x7c6bd65082b12da6},
      {F::kSqrt, 0x893ddd431c6fa359},
      {F::kRsqrt, 0x7686fe8519603dd},
      {F::kReciprocal, 0x4d29130fcc1ee749},
      {F::kSign, 0xacb3e0db60a7cce5},
      {F::kAbs, 0x62eb9f32a709bc5c},
  };
  // Those core/numerics is compiled for.
  for (int64_t target : {HWY_AVX2, HWY_AVX3, HWY_NEON}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    std::printf("on %s\n", hwy::TargetName(target));
    for (const auto& [function, expected] : fingerprints) {
      const uint64_t hash = Fingerprint(function);
      EXPECT_EQ(hash, expected) << Name(function) << std::hex << " 0x" << hash;
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
}

size_t Outside(F f, float x) { return 1 - FirstOutsideValidRange(f, &x, 1); }

TEST(ActivationTest, TheDocumentedRangesAreInclusive) {
  const struct {
    F function;
    std::vector<float> inside, outside;
  } rows[] = {
      {F::kLog, {0x1p-64f, 1, 0x1p64f}, {0, -1, 0x1.fffffep-65f, kInf}},
      {F::kSin, {-3.1415925f, 0, 3.1415927f}, {3.141593f, -9, kInf}},
      {F::kArctan, {-1.5707963f, 0, 1.5707963f}, {1.5707965f, -2, kInf}},
      {F::kSqrt, {0, -0.0f, 0x1p-116f, 0x1p118f}, {-1, 0x1p-117f, 0x1p119f}},
      {F::kRsqrt, {0x1p-87f, 0x1p97f}, {0, 0x1p-88f, 0x1p98f, -1}},
      {F::kReciprocal, {0x1p-42f, -0x1p42f}, {0, -0x1p-43f, 0x1p43f}},
      {F::kExp, {-kInf, 0, kInf, kMax}, {}},
  };
  for (const auto& row : rows) {
    for (float x : row.inside) {
      EXPECT_EQ(Outside(row.function, x), 0u) << Name(row.function) << x;
    }
    for (float x : row.outside) {
      EXPECT_EQ(Outside(row.function, x), 1u) << Name(row.function) << x;
    }
    EXPECT_EQ(Outside(row.function, kNan), 0u) << Name(row.function);
  }
}

TEST(ActivationTest, TheFirstElementOutsideTheRangeIsFound) {
  for (size_t n = 0; n < 80; ++n) {
    std::vector<float> x(n, 1.0f);
    EXPECT_EQ(FirstOutsideValidRange(F::kLog, x.data(), n), n);
    for (size_t i = 0; i < n; ++i) {
      std::fill(x.begin(), x.end(), 1.0f);
      x[i] = x[n - 1] = -1.0f;
      ASSERT_EQ(FirstOutsideValidRange(F::kLog, x.data(), n), i);
    }
  }
}

}  // namespace
}  // namespace trnemu
