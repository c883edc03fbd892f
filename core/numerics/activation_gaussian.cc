// erf, gelu and their derivatives, computed in double and rounded once to
// fp32. All rest on erfc(z) = exp(-z^2) S(z), with S from one polynomial for
// every z >= 0, so that tails are as accurate as the middle.

#include "core/numerics/activation_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/activation_gaussian.cc"
#include "hwy/foreach_target.h"
//
#include "core/numerics/activation_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu::activation {
namespace HWY_NAMESPACE {

// exp(-200) times any x near -200 is zero in fp32.
constexpr double kFar = 200;

// S(z) = exp(z^2) erfc(z) for 0 <= z <= 11.25, as P(q) / (1 + 2z) with
// q = (z - 4) / (z + 4); one division serves both.
HWY_INLINE DoubleVec ScaledErfc(DoubleVec z) {
  const DoubleVec a = hn::Add(z, Const(4));
  const DoubleVec b = hn::MulAdd(z, Const(2), Const(1));
  const DoubleVec inverse = hn::Div(Const(1), hn::Mul(a, b));
  const DoubleVec q = hn::Mul(hn::Mul(hn::Sub(z, Const(4)), b), inverse);
  return hn::Mul(hn::Mul(a, inverse), Poly(q, kScaledErfc));
}

// 1 - erfc(|x|); near 0, where that cancels, x P(x^2).
struct Erf {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec a = hn::Min(hn::Abs(x), Const(6.5));
    const DoubleVec square = hn::Mul(a, a);
    const DoubleVec far =
        hn::NegMulAdd(Exp(hn::Neg(square)), ScaledErfc(a), Const(1));
    const DoubleVec small = hn::Mul(a, Poly(square, kErfSmall));
    const auto is_small = hn::Lt(a, Const(0.25));
    return hn::CopySignToAbs(hn::IfThenElse(is_small, small, far), x);
  }
};

struct ErfDx {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec square = hn::Min(hn::Mul(x, x), Const(kFar));
    return hn::Mul(Exp(hn::Neg(square)), Const(0x1.20dd750429b6dp+0));
  }
};

// Phi(x), the normal distribution function; density is exp(-x^2 / 2).
HWY_INLINE DoubleVec NormalCdf(DoubleVec x, DoubleVec& density) {
  const DoubleVec half = Const(0.5), sqrt_half = Const(0x1.6a09e667f3bcdp-1);
  const DoubleVec square = hn::Mul(hn::Mul(x, x), half);
  const DoubleVec z = hn::Min(hn::Mul(hn::Abs(x), sqrt_half), Const(11.25));
  density = Exp(hn::Neg(hn::Min(square, Const(kFar))));
  const DoubleVec tail = hn::Mul(hn::Mul(density, half), ScaledErfc(z));
  const auto negative = hn::Lt(x, hn::Zero(DoubleTag()));
  return hn::IfThenElse(negative, tail, hn::Sub(Const(1), tail));
}

struct Gelu {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    DoubleVec density;
    return hn::Mul(hn::Max(x, Const(-kFar)), NormalCdf(x, density));
  }
};

// Phi(x) + x phi(x), and a polynomial about the zero, where that cancels.
struct GeluDx {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    constexpr double kPhi0 = 0x1.9884533d43651p-2;  // 1 / sqrt(2 pi)
    DoubleVec density;
    const DoubleVec below = NormalCdf(x, density);
    const DoubleVec near = hn::Clamp(x, Const(-kFar), Const(kFar));
    const DoubleVec phi = hn::Mul(density, Const(kPhi0));
    const DoubleVec y = hn::MulAdd(near, phi, below);
    const DoubleVec d =
        hn::Sub(hn::Sub(x, Const(kGeluDxRootHigh)), Const(kGeluDxRootLow));
    const auto at_zero = hn::Le(hn::Abs(d), Const(kNearRoot));
    return hn::IfThenElse(at_zero, hn::Mul(d, Poly(d, kGeluDxNearRoot)), y);
  }
};

void GaussianRow(ActFunction f, const float* x, size_t n, float* y) {
  switch (f) {
    case ActFunction::kErf:
      return MapRow(Erf(), x, n, y);
    case ActFunction::kErfDx:
      return MapRow(ErfDx(), x, n, y);
    case ActFunction::kGelu:
      return MapRow(Gelu(), x, n, y);
    default:
      return MapRow(GeluDx(), x, n, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trnemu::activation
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu::activation {
HWY_EXPORT(GaussianRow);
void GaussianRow(ActFunction f, const float* x, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(GaussianRow)(f, x, n, y);
}
}  // namespace trnemu::activation
#endif
