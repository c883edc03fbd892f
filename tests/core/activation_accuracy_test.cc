// The activation functions against the C library in double and long double,
// which they share nothing with.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "core/numerics/activation.h"

namespace trnemu {
namespace {

using F = ActFunction;

float Eval(F f, float x) {
  float y;
  ActivationRow(f, &x, 1, &y);
  return y;
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

double SiluDx(double x) { return Logistic(x) * (1 + x * Logistic(-x)); }

double Phi(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }

double GeluDx(double x) {
  return Phi(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * kPi);
}

double GeluApprxTanh(double x) {
  // (1 + tanh(w)) / 2 without cancellation for negative w.
  const double w = std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * w));
}

double Softplus(double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

double CubicSin(double x) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  if (std::fabs(x) <= pi) return std::sin(x);
  const long double d = std::fabs(static_cast<long double>(x)) - pi;
  const double y = static_cast<double>(-d + d * d * d / 6);
  return x < 0 ? -y : y;
}

struct Oracle {
  F function;
  double (*value)(double);
};

const Oracle kOracles[] = {
    {F::kCopy, [](double x) { return x; }},
    {F::kSquare, [](double x) { return x * x; }},
    {F::kSigmoid, Logistic},
    {F::kRelu, [](double x) { return x > 0 ? x : 0; }},
    {F::kPrelu, [](double x) { return x >= 0 ? x : 0 * x; }},
    {F::kGelu, [](double x) { return x * Phi(x); }},
    {F::kGeluDx, GeluDx},
    {F::kGeluApprxTanh, GeluApprxTanh},
    {F::kGeluApprxSigmoid, [](double x) { return x * Logistic(1.702 * x); }},
    {F::kGeluApprxSigmoidDx, [](double x) { return SiluDx(1.702 * x); }},
    {F::kSilu, [](double x) { return x * Logistic(x); }},
    {F::kSiluDx, SiluDx},
    {F::kTanh, [](double x) { return std::tanh(x); }},
    {F::kSoftplus, Softplus},
    {F::kMish, [](double x) { return x * std::tanh(Softplus(x)); }},
    {F::kErf, [](double x) { return std::erf(x); }},
    {F::kErfDx, [](double x) { return 2 / std::sqrt(kPi) * std::exp(-x * x); }},
    {F::kExp, [](double x) { return std::exp(x); }},
    {F::kLog, [](double x) { return std::log(x); }},
    {F::kSin, CubicSin},
    {F::kArctan, [](double x) { return std::atan(x); }},
    {F::kSqrt, [](double x) { return std::sqrt(x); }},
    {F::kRsqrt, [](double x) { return 1 / std::sqrt(x); }},
    {F::kReciprocal, [](double x) { return 1 / x; }},
    {F::kSign, [](double x) { return double(x > 0) - double(x < 0); }},
    {F::kAbs, [](double x) { return std::fabs(x); }},
};

// |y - exact| in units of the last place of an fp32 of the size of `exact`.
// An infinite y counts as 2^128, and so does an exact value beyond that.
double UlpError(float y, double exact) {
  constexpr double kOverflow = 0x1p128;
  if (std::isnan(y) || std::isnan(exact)) {
    return std::isnan(y) && std::isnan(exact) ? 0 : kOverflow;
  }
  const double got = std::clamp<double>(y, -kOverflow, kOverflow);
  exact = std::clamp(exact, -kOverflow, kOverflow);
  const int biased = (std::bit_cast<uint64_t>(exact) >> 52) & 0x7ff;
  const int exponent = std::clamp(biased - 1023, -126, 127) - 23;
  const double ulp =
      std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  return std::fabs(got - exact) / ulp;
}

// Every 997th bit pattern, infinities and NaNs left out.
std::vector<float> WholeRange() {
  std::vector<float> x;
  for (uint64_t bits = 331; bits < uint64_t{1} << 32; bits += 997) {
    const float v = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isfinite(v)) x.push_back(v);
  }
  return x;
}

// A uniform grid where the functions are neither trivial nor limits.
std::vector<float> Middle() {
  std::vector<float> x;
  x.reserve(400001);
  for (int i = -200000; i <= 200000; ++i) {
    x.push_back(static_cast<float>(i) * 0x1.0f8p-14f);
  }
  return x;
}

struct Worst {
  double ulp = 0;
  float x = 0;
};

Worst WorstError(const Oracle& oracle, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  ActivationRow(oracle.function, x.data(), x.size(), y.data());
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = UlpError(y[i], oracle.value(x[i]));
    if (error > worst.ulp) worst = {error, x[i]};
  }
  return worst;
}

TEST(ActivationAccuracyTest, EveryFunctionIsWithinOneUlpOfTheTrueOne) {
  ASSERT_EQ(std::size(kOracles), kActFunctions.size());
  const std::vector<float> whole = WholeRange(), middle = Middle();
  for (const Oracle& oracle : kOracles) {
    const std::string name(Name(oracle.function));
    const Worst a = WorstError(oracle, whole), b = WorstError(oracle, middle);
    const Worst worst = a.ulp > b.ulp ? a : b;
    std::printf("%-22s largest error %.4f ulp, at %a\n", name.c_str(),
                worst.ulp, worst.x);
    RecordProperty(name + "_max_ulp", std::to_string(worst.ulp));
    // All but exp are computed in double and rounded once.
    const double limit = oracle.function == F::kExp ? 0.95 : 0.502;
    EXPECT_LE(worst.ulp, limit) << name << "(" << worst.x << ")";
  }
}

long double LongSiluDx(long double x) {
  const long double s = 1 / (1 + std::exp(-x));
  return s * (1 + x / (1 + std::exp(x)));
}
long double LongGeluDx(long double x) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  return 0.5L * std::erfc(-x / std::sqrt(2.0L)) +
         x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
}
long double LongGeluApprxSigmoidDx(long double x) {
  return LongSiluDx(1.702L * x);
}
long double LongSin(long double x) {
  const long double d = x - std::numbers::pi_v<long double>;
  return d < 0 ? std::sin(x) : -d + d * d * d / 6;
}

TEST(ActivationAccuracyTest, FunctionsAreWithinOneUlpNextToTheirZeros) {
  const struct {
    long double (*value)(long double);
    float zero;
    F function;
  } rows[] = {
      {LongSiluDx, -0x1.474974p+0f, F::kSiluDx},
      {LongGeluDx, -0x1.80ead2p-1f, F::kGeluDx},
      {LongGeluApprxSigmoidDx, -0x1.8097a0p-1f, F::kGeluApprxSigmoidDx},
      {LongSin, 0x1.921fb6p+1f, F::kSin},
      {LongSin, 0x1.65d44cp+2f, F::kSin},
      {[](long double x) { return std::log(x); }, 1.0f, F::kLog},
  };
  for (const auto& row : rows) {
    const uint32_t zero = std::bit_cast<uint32_t>(row.zero);
    double worst = 0;
    for (uint32_t bits = zero - 20000; bits != zero + 20000; ++bits) {
      const float x = std::bit_cast<float>(bits);
      const auto exact = static_cast<double>(row.value(x));
      worst = std::max(worst, UlpError(Eval(row.function, x), exact));
    }
    const std::string name(Name(row.function));
    std::printf("%-22s largest error %.4f ulp near %.9g\n", name.c_str(), worst,
                row.zero);
    EXPECT_LE(worst, 0.502) << name;
  }
}

}  // namespace
}  // namespace trnemu
