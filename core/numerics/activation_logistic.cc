// Functions of one exponential: the logistic function and what is built on
// it, computed in double and rounded once to fp32. Arguments are clamped where
// the fp32 result no longer depends on them, which also gives the limits.

#include "core/numerics/activation_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/activation_logistic.cc"
#include "hwy/foreach_target.h"
//
#include "core/numerics/activation_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu::activation {
namespace HWY_NAMESPACE {

// exp(-200) times any x near -200 is zero in fp32, 1 + exp(-200) is 1.
constexpr double kFar = 200;

HWY_INLINE DoubleVec ClampBelow(DoubleVec x) {
  return hn::Max(x, Const(-kFar));
}

// 1 + exp(-w): what the logistic function is the reciprocal of.
HWY_INLINE DoubleVec OnePlusExpNeg(DoubleVec w) {
  const DoubleVec near = hn::Clamp(w, Const(-kFar), Const(kFar));
  return hn::Add(Const(1), Exp(hn::Neg(near)));
}

struct Sigmoid {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    return hn::Div(Const(1), OnePlusExpNeg(x));
  }
};

struct Silu {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    return hn::Div(ClampBelow(x), OnePlusExpNeg(x));
  }
};

struct GeluApprxSigmoid {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec w = hn::Mul(x, Const(kGeluSigmoidScaleHigh));
    return hn::Div(ClampBelow(x), OnePlusExpNeg(w));
  }
};

// (1 + tanh(w)) / 2 is the logistic function of 2w.
struct GeluApprxTanh {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    constexpr double kScale = 0x1.9884533d43651p+0;  // 2 sqrt(2 / pi)
    constexpr double kCubic = 0x1.2444f2a4d8b4bp-4;  // 0.044715 times that
    const DoubleVec square = hn::Mul(x, x);
    const DoubleVec w =
        hn::Mul(x, hn::MulAdd(square, Const(kCubic), Const(kScale)));
    return hn::Div(ClampBelow(x), OnePlusExpNeg(w));
  }
};

// s (1 + w (1 - s)), s the logistic function of w, and its Taylor-like
// polynomial where that cancels; d is w less the zero.
HWY_INLINE DoubleVec DerivativeOfSilu(DoubleVec w, DoubleVec d) {
  const DoubleVec near = hn::Clamp(w, Const(-kFar), Const(kFar));
  const DoubleVec e = Exp(hn::Neg(near));
  const DoubleVec s = hn::Div(Const(1), hn::Add(Const(1), e));
  const DoubleVec rest = hn::Mul(e, s);  // 1 - s
  const DoubleVec y = hn::Mul(s, hn::MulAdd(near, rest, Const(1)));
  const auto at_zero = hn::Le(hn::Abs(d), Const(kNearRoot));
  return hn::IfThenElse(at_zero, hn::Mul(d, Poly(d, kSiluDxNearRoot)), y);
}

struct SiluDx {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec d =
        hn::Sub(hn::Sub(x, Const(kSiluDxRootHigh)), Const(kSiluDxRootLow));
    return DerivativeOfSilu(x, d);
  }
};

// The same of 1.702 x, of which the zero needs more than a double.
struct GeluApprxSigmoidDx {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec w = hn::Mul(x, Const(kGeluSigmoidScaleHigh));
    const DoubleVec high =
        hn::MulAdd(x, Const(kGeluSigmoidScaleHigh), Const(-kSiluDxRootHigh));
    const DoubleVec low =
        hn::MulAdd(x, Const(kGeluSigmoidScaleLow), Const(-kSiluDxRootLow));
    return DerivativeOfSilu(w, hn::Add(high, low));
  }
};

// (1 - e) / (1 + e), e = exp(-2 |x|); near 0, where that cancels, x P(x^2).
struct Tanh {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec one = Const(1);
    const DoubleVec a = hn::Min(hn::Abs(x), Const(20));
    const DoubleVec e = Exp(hn::Mul(a, Const(-2)));
    const DoubleVec far = hn::Div(hn::Sub(one, e), hn::Add(one, e));
    const DoubleVec small = hn::Mul(a, Poly(hn::Mul(a, a), kTanhSmall));
    const auto is_small = hn::Lt(a, Const(0.125));
    return hn::CopySignToAbs(hn::IfThenElse(is_small, small, far), x);
  }
};

HWY_INLINE DoubleVec ExpNegAbs(DoubleVec x) {
  return Exp(hn::Neg(hn::Min(hn::Abs(x), Const(kFar))));
}

// max(x, 0) + log(1 + e), e = exp(-|x|), and log(1 + e) = 2 artanh(e / (2 + e))
// without cancellation.
struct Softplus {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec e = ExpNegAbs(x);
    const DoubleVec t = hn::Div(e, hn::Add(e, Const(2)));
    const DoubleVec zero = hn::Zero(DoubleTag());
    const DoubleVec positive = hn::IfThenElseZero(hn::Gt(x, zero), x);
    return hn::MulAdd(t, Poly(hn::Mul(t, t), kLog1p), positive);
  }
};

// tanh(log(1 + exp(x))) = u (u + 2) / (u (u + 2) + 2) with u = exp(x); for
// positive x by e = exp(-x) = 1 / u, so that nothing overflows or cancels.
struct Mish {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec one = Const(1), two = Const(2);
    const DoubleVec e = ExpNegAbs(x);
    const auto negative = hn::Lt(x, hn::Zero(DoubleTag()));
    const DoubleVec product = hn::Mul(e, hn::Add(e, two));
    const DoubleVec reverse = hn::MulAdd(two, e, one);
    const DoubleVec numerator = hn::IfThenElse(negative, product, reverse);
    const DoubleVec rest =
        hn::IfThenElse(negative, two, hn::Mul(two, hn::Mul(e, e)));
    const DoubleVec ratio = hn::Div(numerator, hn::Add(numerator, rest));
    return hn::Mul(ClampBelow(x), ratio);
  }
};

void LogisticRow(ActFunction f, const float* x, size_t n, float* y) {
  switch (f) {
    case ActFunction::kSigmoid:
      return MapRow(Sigmoid(), x, n, y);
    case ActFunction::kSilu:
      return MapRow(Silu(), x, n, y);
    case ActFunction::kSiluDx:
      return MapRow(SiluDx(), x, n, y);
    case ActFunction::kGeluApprxTanh:
      return MapRow(GeluApprxTanh(), x, n, y);
    case ActFunction::kGeluApprxSigmoid:
      return MapRow(GeluApprxSigmoid(), x, n, y);
    case ActFunction::kGeluApprxSigmoidDx:
      return MapRow(GeluApprxSigmoidDx(), x, n, y);
    case ActFunction::kTanh:
      return MapRow(Tanh(), x, n, y);
    case ActFunction::kSoftplus:
      return MapRow(Softplus(), x, n, y);
    default:
      return MapRow(Mish(), x, n, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trnemu::activation
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu::activation {
HWY_EXPORT(LogisticRow);
void LogisticRow(ActFunction f, const float* x, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(LogisticRow)(f, x, n, y);
}
}  // namespace trnemu::activation
#endif
