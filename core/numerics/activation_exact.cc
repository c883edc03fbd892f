// The activation functions that are an instruction or two, and the search for
// inputs outside a documented range. All exact, or rounded once (rsqrt).

#include "core/numerics/activation_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/activation_exact.cc"
#include "hwy/foreach_target.h"
//
#include "core/numerics/activation_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu::activation {
namespace HWY_NAMESPACE {

HWY_INLINE FloatVec ConstF(float c) { return hn::Set(FloatTag(), c); }

// The NaN every operation gives here: processors differ in theirs.
HWY_INLINE FloatVec OneNan(FloatVec y) {
  const FloatVec nan = ConstF(std::numeric_limits<float>::quiet_NaN());
  return hn::IfThenElse(hn::IsNaN(y), nan, y);
}

struct Square {
  HWY_INLINE FloatVec operator()(FloatVec x) const {
    return OneNan(hn::Mul(x, x));
  }
};

struct Relu {
  HWY_INLINE FloatVec operator()(FloatVec x) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(FloatTag())), x);
  }
};

struct Prelu {
  float slope;
  HWY_INLINE FloatVec operator()(FloatVec x) const {
    const FloatVec scaled = hn::Mul(x, ConstF(slope));
    const auto positive = hn::Ge(x, hn::Zero(FloatTag()));
    return OneNan(hn::IfThenElse(positive, x, scaled));
  }
};

struct Sqrt {
  HWY_INLINE FloatVec operator()(FloatVec x) const {
    return OneNan(hn::Sqrt(x));
  }
};

struct Reciprocal {
  HWY_INLINE FloatVec operator()(FloatVec x) const {
    return OneNan(hn::Div(ConstF(1), x));
  }
};

struct Sign {
  HWY_INLINE FloatVec operator()(FloatVec x) const {
    const FloatVec zero = hn::Zero(FloatTag());
    const FloatVec below = hn::IfThenElseZero(hn::Lt(x, zero), ConstF(-1));
    const FloatVec y = hn::IfThenElse(hn::Gt(x, zero), ConstF(1), below);
    return OneNan(hn::IfThenElse(hn::IsNaN(x), x, y));
  }
};

struct Abs {
  HWY_INLINE FloatVec operator()(FloatVec x) const { return hn::Abs(x); }
};

struct Rsqrt {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec nan = Const(std::numeric_limits<double>::quiet_NaN());
    const auto negative = hn::Lt(x, hn::Zero(DoubleTag()));
    return hn::IfThenElse(negative, nan, hn::Div(Const(1), hn::Sqrt(x)));
  }
};

// y = op(x) in fp32, whole vectors.
template <class Op>
HWY_NOINLINE void MapFloatVectors(const Op& op, const float* x, size_t n,
                                  float* y) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const FloatVec a = op(hn::LoadU(d, x + i));
    const FloatVec b = op(hn::LoadU(d, x + i + lanes));
    const FloatVec c = op(hn::LoadU(d, x + i + 2 * lanes));
    const FloatVec e = op(hn::LoadU(d, x + i + 3 * lanes));
    hn::StoreU(a, d, y + i);
    hn::StoreU(b, d, y + i + lanes);
    hn::StoreU(c, d, y + i + 2 * lanes);
    hn::StoreU(e, d, y + i + 3 * lanes);
  }
  for (; i < n; i += lanes) hn::StoreU(op(hn::LoadU(d, x + i)), d, y + i);
}

template <class Op>
void MapFloatRow(const Op& op, const float* x, size_t n, float* y) {
  const size_t lanes = hn::Lanes(FloatTag());
  const size_t whole = n - n % lanes;
  MapFloatVectors(op, x, whole, y);
  if (whole == n) return;
  float tail[hn::MaxLanes(FloatTag())] = {};
  std::memcpy(tail, x + whole, (n - whole) * sizeof(float));
  MapFloatVectors(op, tail, lanes, tail);
  std::memcpy(y + whole, tail, (n - whole) * sizeof(float));
}

void ExactRow(ActFunction f, const float* x, size_t n, float* y) {
  switch (f) {
    case ActFunction::kSquare:
      return MapFloatRow(Square(), x, n, y);
    case ActFunction::kRelu:
      return MapFloatRow(Relu(), x, n, y);
    case ActFunction::kSqrt:
      return MapFloatRow(Sqrt(), x, n, y);
    case ActFunction::kRsqrt:
      return MapRow(Rsqrt(), x, n, y);
    case ActFunction::kReciprocal:
      return MapFloatRow(Reciprocal(), x, n, y);
    case ActFunction::kSign:
      return MapFloatRow(Sign(), x, n, y);
    case ActFunction::kAbs:
      return MapFloatRow(Abs(), x, n, y);
    default:  // copy
      if (x != y) std::memcpy(y, x, n * sizeof(float));
  }
}

void PreluRow(const float* x, size_t n, float slope, float* y) {
  MapFloatRow(Prelu{slope}, x, n, y);
}

// Which lanes are outside the limits; none that is NaN.
HWY_INLINE hn::Mask<FloatTag> Outside(FloatVec x, const Limits& limits) {
  const FloatVec v = limits.magnitude ? hn::Abs(x) : x;
  const auto outside =
      hn::Or(hn::Lt(v, ConstF(limits.low)), hn::Gt(v, ConstF(limits.high)));
  if (!limits.zero) return outside;
  return hn::And(outside, hn::Ne(v, hn::Zero(FloatTag())));
}

size_t FirstOutside(const Limits& limits, const float* x, size_t n) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto a = Outside(hn::LoadU(d, x + i), limits);
    const auto b = Outside(hn::LoadU(d, x + i + lanes), limits);
    const auto c = Outside(hn::LoadU(d, x + i + 2 * lanes), limits);
    const auto e = Outside(hn::LoadU(d, x + i + 3 * lanes), limits);
    if (!hn::AllFalse(d, hn::Or(hn::Or(a, b), hn::Or(c, e)))) break;
  }
  for (; i < n; ++i) {
    const float v = limits.magnitude && x[i] < 0 ? -x[i] : x[i];
    if (limits.zero && v == 0) continue;
    if (v < limits.low || v > limits.high) return i;
  }
  return n;
}

}  // namespace HWY_NAMESPACE
}  // namespace trnemu::activation
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu::activation {

HWY_EXPORT(ExactRow);
HWY_EXPORT(PreluRow);
HWY_EXPORT(FirstOutside);

void ExactRow(ActFunction f, const float* x, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(ExactRow)(f, x, n, y);
}
void PreluRow(const float* x, size_t n, float slope, float* y) {
  HWY_DYNAMIC_DISPATCH(PreluRow)(x, n, slope, y);
}
size_t FirstOutside(const Limits& limits, const float* x, size_t n) {
  return HWY_DYNAMIC_DISPATCH(FirstOutside)(limits, x, n);
}

}  // namespace trnemu::activation
#endif
