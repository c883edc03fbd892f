// power and rsqrt on vectors, per target: computed in double, rounded once.
#if defined(TRNEMU_CORE_NUMERICS_POWER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRNEMU_CORE_NUMERICS_POWER_INL_H_
#undef TRNEMU_CORE_NUMERICS_POWER_INL_H_
#else
#define TRNEMU_CORE_NUMERICS_POWER_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/numerics/alu_ops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Polynomials are Horner chains of fused operations: the bits depend on it.
template <class DD, size_t kTerms>
HWY_INLINE hn::Vec<DD> Polynomial(DD dd, hn::Vec<DD> x,
                                  const double (&coefficients)[kTerms]) {
  static_assert(HWY_NATIVE_FMA, "the floor is AVX2 with FMA, or NEON");
  auto sum = hn::Set(dd, coefficients[kTerms - 1]);
  for (size_t i = kTerms - 1; i-- > 0;) {
    sum = hn::MulAdd(sum, x, hn::Set(dd, coefficients[i]));
  }
  return sum;
}

// log2(x) for finite x > 0 that is normal in double, to about 2^-51 relative.
//
// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log2(m) = 2 atanh(s) / ln 2 with
// s = (m - 1) / (m + 1), |s| < 0.172, as 11 terms of the Taylor series, the
// next one being below 2^-58 of the first.
template <class DD>
HWY_INLINE hn::Vec<DD> Log2(DD dd, hn::Vec<DD> x) {
  static constexpr double kAtanh[12] = {
      // 2 / ((2k + 1) ln 2)
      0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1,
      0x1.a61762a7aded9p-2, 0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2,
      0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3, 0x1.5b9ac9b743f0dp-3,
      0x1.3703c1f4d0ffep-3, 0x1.1964ec6fc9491p-3, 0x1.00ecd7e080215p-3};
  constexpr uint64_t kSqrtHalf = 0x3FE6A09E667F3BCD;
  constexpr uint64_t kBias = uint64_t{1024} << 52;
  const hn::RebindToUnsigned<DD> du;
  const auto bits = hn::BitCast(du, x);
  // e + 1024, in the low bits; then as a double: 2^52 + (e + 1024).
  const auto biased =
      hn::ShiftRight<52>(hn::Add(bits, hn::Set(du, kBias - kSqrtHalf)));
  const auto exponent =
      hn::Sub(hn::BitCast(dd, hn::Or(biased, hn::Set(du, 0x433ull << 52))),
              hn::Set(dd, 0x1p52 + 1024));
  const auto m = hn::BitCast(
      dd,
      hn::Add(hn::Sub(bits, hn::ShiftLeft<52>(biased)), hn::Set(du, kBias)));
  const auto one = hn::Set(dd, 1.0);
  const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  return hn::MulAdd(s, Polynomial(dd, hn::Mul(s, s), kAtanh), exponent);
}

// 2^t for |t| <= 300, to about 2^-51 relative.
//
// 2^t = 2^n e^(f ln 2) with n = t to nearest even and |f| <= 1/2, as the
// Taylor polynomial of degree 13, the next term being below 2^-57.
template <class DD>
HWY_INLINE hn::Vec<DD> Exp2(DD dd, hn::Vec<DD> t) {
  static constexpr double kExp[14] = {
      // (ln 2)^k / k!
      0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,
      0x1.c6b08d704a0c0p-5,  0x1.3b2ab6fba4e77p-7,  0x1.5d87fe78a6731p-10,
      0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17, 0x1.62c0223a5c824p-20,
      0x1.b5253d395e7c4p-24, 0x1.e4cf5158b8ecap-28, 0x1.e8cac7351bb25p-32,
      0x1.c3bd650fc2986p-36, 0x1.816193166d0f9p-40};
  const hn::RebindToUnsigned<DD> du;
  const auto magic = hn::Set(dd, 0x1.8p52);  // adding it rounds
  const auto shifted = hn::Add(t, magic);
  const auto f = hn::Sub(t, hn::Sub(shifted, magic));
  const auto scale = hn::ShiftLeft<52>(hn::BitCast(du, shifted));
  return hn::BitCast(dd,
                     hn::Add(hn::BitCast(du, Polynomial(dd, f, kExp)), scale));
}

// To 42 significant bits, so that a result which is exact, or exactly between
// two fp32 values, is not moved by the error of Exp2(y * Log2(x)), which is
// below 2^-44. The price is 2^-19 fp32 ulp for any other.
template <class DD>
HWY_INLINE hn::Vec<DD> Snap(DD dd, hn::Vec<DD> v) {
  const hn::RebindToUnsigned<DD> du;
  const auto rounded =
      hn::Add(hn::BitCast(du, v), hn::Set(du, uint64_t{0x400}));
  return hn::BitCast(dd, hn::And(rounded, hn::Set(du, ~uint64_t{0x7FF})));
}

// `result` with the powers 2, -1, 1/2 and -1/2 of finite mag > 0 replaced by
// what square, reciprocal, a square root and rsqrt give.
template <class DD>
HWY_INLINE hn::Vec<DD> WithCommonPowers(DD dd, hn::Vec<DD> mag, hn::Vec<DD> y,
                                        hn::Vec<DD> result) {
  const auto infinity = hn::Set(dd, std::numeric_limits<double>::infinity());
  const auto one = hn::Set(dd, 1.0);
  const auto square = hn::Eq(y, hn::Set(dd, 2.0));
  const auto root = hn::Eq(hn::Abs(y), hn::Set(dd, 0.5));
  const auto common = hn::Or(hn::Or(square, root), hn::Eq(y, hn::Neg(one)));
  const auto ordinary =
      hn::And(hn::Gt(mag, hn::Zero(dd)), hn::Lt(mag, infinity));
  const auto replaced = hn::And(common, ordinary);
  if (hn::AllFalse(dd, replaced)) return result;
  auto power = hn::IfThenElse(root, hn::Sqrt(mag), mag);
  power = hn::IfThenElse(square, hn::Mul(mag, mag), power);
  power = hn::IfThenElse(hn::Lt(y, hn::Zero(dd)), hn::Div(one, power), power);
  return hn::IfThenElse(replaced, power, result);
}

// IEEE 754 pow in double, for x and y that are fp32 values; 2^300 and 2^-300
// stand for what overflows and underflows in fp32.
template <class DD>
HWY_INLINE hn::Vec<DD> Power(DD dd, hn::Vec<DD> x, hn::Vec<DD> y) {
  const auto zero = hn::Zero(dd);
  const auto one = hn::Set(dd, 1.0);
  const auto infinity = hn::Set(dd, std::numeric_limits<double>::infinity());
  const auto nan = hn::Set(dd, std::numeric_limits<double>::quiet_NaN());
  const auto mag = hn::Abs(x);

  auto log = Log2(dd, mag);
  log = hn::IfThenElse(hn::Eq(mag, zero), hn::Neg(infinity), log);
  log = hn::IfThenElse(hn::Eq(mag, infinity), infinity, log);
  const auto limit = hn::Set(dd, 300.0);
  const auto exponent =
      hn::Min(hn::Max(hn::Mul(y, log), hn::Neg(limit)), limit);
  auto result = Snap(dd, Exp2(dd, exponent));
  // |x| = 1 with y infinite, which the product above made a NaN.
  result = hn::IfThenElse(hn::Eq(mag, one), one, result);
  result = WithCommonPowers(dd, mag, y, result);

  // An fp32 of magnitude 2^23 or more is an integer, from 2^24 on an even one.
  const auto half = hn::Mul(y, hn::Set(dd, 0.5));
  const auto integer = hn::Eq(hn::Trunc(y), y);
  const auto odd = hn::And(integer, hn::Ne(hn::Trunc(half), half));
  const auto sign = hn::IfThenElseZero(odd, x);
  result = hn::CopySign(result, sign);

  const auto finite_negative = hn::And(hn::Lt(x, zero), hn::Ne(mag, infinity));
  result = hn::IfThenElse(hn::AndNot(integer, finite_negative), nan, result);
  result = hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), nan, result);
  return hn::IfThenElse(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), one, result);
}

struct PowerOp {
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    const hn::Rebind<double, DF> dd;
    const auto wide = Power(dd, hn::PromoteTo(dd, a), hn::PromoteTo(dd, b));
    return CanonicalNan(df, hn::DemoteTo(df, wide));
  }
};

struct RsqrtOp {
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a) const {
    const hn::Rebind<double, DF> dd;
    const auto root = hn::Sqrt(hn::PromoteTo(dd, a));
    const auto wide = hn::Div(hn::Set(dd, 1.0), root);
    return CanonicalNan(df, hn::DemoteTo(df, wide));
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#endif  // TRNEMU_CORE_NUMERICS_POWER_INL_H_
