// log, sin and arctan, computed in double and rounded once to fp32.

#include "core/numerics/activation_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/activation_elementary.cc"
#include "hwy/foreach_target.h"
//
#include "core/numerics/activation_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu::activation {
namespace HWY_NAMESPACE {

constexpr double kInf = std::numeric_limits<double>::infinity();

// log(x) = k ln 2 + log(m) with m within [sqrt(1/2), sqrt(2)), and log(m) =
// 2 artanh(t) with t = (m - 1) / (m + 1). Every fp32 is a normal double.
struct Log {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleTag d;
    const BitsTag bits;
    // The bits of sqrt(1/2); what is above them counts in octaves from there.
    const auto base = hn::Set(bits, uint64_t{0x3fe6a09e667f3bcd});
    const auto bias = hn::Set(bits, uint64_t{1024} << 52);
    const auto octaves = hn::Add(hn::Sub(hn::BitCast(bits, x), base), bias);
    const auto fraction =
        hn::And(octaves, hn::Set(bits, (uint64_t{1} << 52) - 1));
    const DoubleVec m = hn::BitCast(d, hn::Add(fraction, base));
    // An integer below 2^52 becomes a double by its exponent field.
    const auto integer = hn::Or(hn::ShiftRight<52>(octaves),
                                hn::Set(bits, uint64_t{0x433} << 52));
    const DoubleVec k = hn::Sub(hn::BitCast(d, integer), Const(0x1p52 + 1024));
    const DoubleVec t = hn::Div(hn::Sub(m, Const(1)), hn::Add(m, Const(1)));
    const DoubleVec log_m = hn::Mul(t, Poly(hn::Mul(t, t), kLog));
    const DoubleVec y = hn::MulAdd(k, Const(0x1.62e42fefa39efp-1), log_m);
    return Special(x, y);
  }

  static HWY_INLINE DoubleVec Special(DoubleVec x, DoubleVec y) {
    const DoubleVec zero = hn::Zero(DoubleTag());
    const DoubleVec nan = Const(std::numeric_limits<double>::quiet_NaN());
    y = hn::IfThenElse(hn::Eq(x, Const(kInf)), x, y);
    y = hn::IfThenElse(hn::Eq(x, zero), Const(-kInf), y);
    return hn::IfThenElse(hn::Lt(x, zero), nan, y);
  }
};

// sin within [-pi, pi], from the nearer of 0 and pi. Beyond, the cubic about
// pi, d (d^2 - 6) / 6 with d = |x| - pi, by its zeros, which keeps it accurate
// near them.
struct Sin {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec a = hn::Abs(x);
    const DoubleVec pi_high = Const(kPiHigh), pi_low = Const(kPiLow);
    const DoubleVec to_pi = hn::Add(hn::Sub(pi_high, a), pi_low);
    const DoubleVec r = hn::Min(a, to_pi);
    const DoubleVec inside = hn::Mul(r, Poly(hn::Mul(r, r), kSin));
    const DoubleVec y =
        hn::IfThenElse(hn::Gt(a, pi_high), Cubic(a, to_pi), inside);
    return hn::Xor(y, hn::And(hn::SignBit(DoubleTag()), x));
  }

  static HWY_INLINE DoubleVec Cubic(DoubleVec a, DoubleVec to_pi) {
    const DoubleVec root6 = Const(0x1.3988e1409212ep+1);
    const DoubleVec past_pi = hn::Neg(to_pi);
    const DoubleVec to_zero =
        hn::Sub(hn::Sub(a, Const(kPiPlusSqrt6High)), Const(kPiPlusSqrt6Low));
    const DoubleVec product = hn::Mul(to_zero, hn::Add(past_pi, root6));
    return hn::Mul(hn::Mul(past_pi, product), Const(1.0 / 6));
  }
};

// arctan(a) = offset + arctan(t), |t| <= tan(pi/8): t is a, or (a - 1)/(a + 1)
// with pi/4, or -1/a with pi/2.
struct Arctan {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec one = Const(1);
    const DoubleVec a = hn::Min(hn::Abs(x), Const(0x1p140));
    const auto middle = hn::Gt(a, Const(0x1.a827999fcef32p-2));
    const auto large = hn::Gt(a, Const(0x1.3504f333f9de6p+1));
    DoubleVec numerator = hn::IfThenElse(middle, hn::Sub(a, one), a);
    DoubleVec denominator = hn::IfThenElse(middle, hn::Add(a, one), one);
    DoubleVec offset = hn::IfThenElseZero(middle, Const(kPiHigh / 4));
    numerator = hn::IfThenElse(large, Const(-1), numerator);
    denominator = hn::IfThenElse(large, a, denominator);
    offset = hn::IfThenElse(large, Const(kPiHigh / 2), offset);
    const DoubleVec t = hn::Div(numerator, denominator);
    const DoubleVec y = hn::MulAdd(t, Poly(hn::Mul(t, t), kArctan), offset);
    return hn::CopySignToAbs(y, x);
  }
};

void ElementaryRow(ActFunction f, const float* x, size_t n, float* y) {
  switch (f) {
    case ActFunction::kLog:
      return MapRow(Log(), x, n, y);
    case ActFunction::kSin:
      return MapRow(Sin(), x, n, y);
    default:
      return MapRow(Arctan(), x, n, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trnemu::activation
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu::activation {
HWY_EXPORT(ElementaryRow);
void ElementaryRow(ActFunction f, const float* x, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(ElementaryRow)(f, x, n, y);
}
}  // namespace trnemu::activation
#endif
