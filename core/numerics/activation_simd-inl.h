// What the families of activation functions share, once per Highway target:
// rows mapped through double vectors, polynomials, the exponential.

#if defined(TRNEMU_CORE_NUMERICS_ACTIVATION_SIMD_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef TRNEMU_CORE_NUMERICS_ACTIVATION_SIMD_INL_H_
#undef TRNEMU_CORE_NUMERICS_ACTIVATION_SIMD_INL_H_
#else
#define TRNEMU_CORE_NUMERICS_ACTIVATION_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/numerics/activation_coefficients.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu::activation {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
using BitsTag = hn::RebindToUnsigned<DoubleTag>;
using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

// The polynomials about zeros of functions are for this far from these.
constexpr double kNearRoot = 0.0625;

HWY_INLINE DoubleVec Const(double c) { return hn::Set(DoubleTag(), c); }

// c[first] + c[first + step] x + ... by Horner's rule.
template <size_t n>
HWY_INLINE DoubleVec Horner(DoubleVec x, const double (&c)[n], size_t first,
                            size_t step) {
  size_t i = first + (n - 1 - first) / step * step;
  DoubleVec sum = Const(c[i]);
  while (i > first) {
    i -= step;
    sum = hn::MulAdd(sum, x, Const(c[i]));
  }
  return sum;
}

// c[0] + c[1] x + ...; a long one as two shorter chains in x^2, side by side.
template <size_t n>
HWY_INLINE DoubleVec Poly(DoubleVec x, const double (&c)[n]) {
  if constexpr (n < 8) return Horner(x, c, 0, 1);
  const DoubleVec square = hn::Mul(x, x);
  return hn::MulAdd(Horner(square, c, 1, 2), x, Horner(square, c, 0, 2));
}

// exp(x) for |x| <= 700, to 1e-12: 2^k times the polynomial of the rest, with
// k in the low bits of a double whose unit is 1.
HWY_INLINE DoubleVec Exp(DoubleVec x) {
  constexpr double kShift = 0x1.8p52;
  const DoubleTag d;
  const BitsTag bits;
  const DoubleVec shifted =
      hn::MulAdd(x, Const(0x1.71547652b82fep+0), Const(kShift));
  const DoubleVec k = hn::Sub(shifted, Const(kShift));
  const DoubleVec r = hn::NegMulAdd(k, Const(0x1.62e42fefa39efp-1), x);
  const DoubleVec p = hn::MulAdd(Poly(r, kExpDouble), r, Const(1));
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(bits, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, p), exponent));
}

// Whole vectors of a row; n is a multiple of the number of doubles in one.
template <class Op>
HWY_NOINLINE void MapVectors(const Op& op, const float* x, size_t n, float* y) {
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> half;
  const DoubleVec nan = Const(std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const DoubleVec v = hn::PromoteTo(d, hn::LoadU(half, x + i));
    const DoubleVec f = hn::IfThenElse(hn::IsNaN(v), nan, op(v));
    hn::StoreU(hn::DemoteTo(half, f), half, y + i);
  }
}

// y = op(x) computed in double and rounded once; NaN where x is NaN, so that
// op may do as it likes with those.
template <class Op>
void MapRow(const Op& op, const float* x, size_t n, float* y) {
  constexpr size_t kMaxLanes = hn::MaxLanes(DoubleTag());
  const size_t lanes = hn::Lanes(DoubleTag());
  const size_t whole = n - n % lanes;
  MapVectors(op, x, whole, y);
  if (whole == n) return;
  float tail[kMaxLanes] = {};
  std::memcpy(tail, x + whole, (n - whole) * sizeof(float));
  MapVectors(op, tail, lanes, tail);
  std::memcpy(y + whole, tail, (n - whole) * sizeof(float));
}

}  // namespace HWY_NAMESPACE
}  // namespace trnemu::activation
HWY_AFTER_NAMESPACE();

#endif  // TRNEMU_CORE_NUMERICS_ACTIVATION_SIMD_INL_H_
