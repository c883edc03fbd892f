// exp on rows of fp32, in fp32: exp(x) = 2^k exp(r) with r = x - k ln 2 in two
// parts and a polynomial of degree 6. The largest error is in
// docs/activation-accuracy.md; it was measured over every fp32 number.

#include "core/numerics/activation_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/activation_exp.cc"
#include "hwy/foreach_target.h"
//
#include "core/numerics/activation_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu::activation {
namespace HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<FloatTag>;

// Vectors handled together, so that their chains of operations overlap.
constexpr size_t kUnroll = 4;
constexpr size_t kDegree = std::size(kExpFloat) - 1;
// Within it 2^k is a normal number, whatever the rest.
constexpr float kEasy = 86.0f;
// exp(x) is less than half the smallest subnormal below it.
constexpr float kZero = -104.0f;

HWY_INLINE FloatVec ConstF(float c) { return hn::Set(FloatTag(), c); }

// exp(x) = 2^k p. `shifted` has k in its low bits, k is also returned.
HWY_INLINE FloatVec SplitExp(FloatVec x, FloatVec& shifted, FloatVec& p) {
  constexpr float kShift = 0x1.8p23f;
  shifted = hn::MulAdd(x, ConstF(0x1.715476p+0f), ConstF(kShift));
  const FloatVec k = hn::Sub(shifted, ConstF(kShift));
  // ln 2 = 0x1.62e4p-1, whose multiples by k are exact, + 0x1.7f7d1cp-20.
  FloatVec r = hn::NegMulAdd(k, ConstF(0x1.62e4p-1f), x);
  r = hn::NegMulAdd(k, ConstF(0x1.7f7d1cp-20f), r);
  p = ConstF(kExpFloat[kDegree]);
  for (size_t i = kDegree; i-- > 0;) {
    p = hn::MulAdd(p, r, ConstF(kExpFloat[i]));
  }
  return k;
}

HWY_INLINE FloatVec EasyExp(FloatVec x) {
  const IntTag i;
  FloatVec shifted, p;
  SplitExp(x, shifted, p);
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(i, shifted));
  return hn::BitCast(FloatTag(), hn::Add(hn::BitCast(i, p), exponent));
}

// 2^k for -126 <= k <= 127.
HWY_INLINE FloatVec PowerOfTwo(hn::Vec<IntTag> k) {
  const hn::Vec<IntTag> biased = hn::Add(k, hn::Set(IntTag(), 127));
  return hn::BitCast(FloatTag(), hn::ShiftLeft<23>(biased));
}

// Any x: scales in two steps, of which only the second can round or overflow.
// The same bits as EasyExp where that applies. Below kZero the result is 0,
// which is selected, not computed: underflow is slow.
HWY_INLINE FloatVec AnyExp(FloatVec x) {
  const FloatVec nan = ConstF(std::numeric_limits<float>::quiet_NaN());
  const auto zero = hn::Lt(x, ConstF(kZero));
  const FloatVec inside = hn::Min(hn::IfThenZeroElse(zero, x), ConstF(90));
  FloatVec shifted, p;
  const hn::Vec<IntTag> k =
      hn::ConvertTo(IntTag(), SplitExp(inside, shifted, p));
  const hn::Vec<IntTag> half = hn::ShiftRight<1>(k);
  FloatVec y = hn::Mul(p, PowerOfTwo(half));
  y = hn::Mul(y, PowerOfTwo(hn::Sub(k, half)));
  return hn::IfThenElse(hn::IsNaN(x), nan, hn::IfThenZeroElse(zero, y));
}

// n is a multiple of kUnroll vectors.
HWY_NOINLINE void ExpBlocks(const float* x, size_t n, float* y) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += kUnroll * lanes) {
    FloatVec v[kUnroll];
    for (size_t j = 0; j < kUnroll; ++j) {
      v[j] = hn::LoadU(d, x + i + j * lanes);
    }
    auto easy = hn::Lt(hn::Abs(v[0]), ConstF(kEasy));
    for (size_t j = 1; j < kUnroll; ++j) {
      easy = hn::And(easy, hn::Lt(hn::Abs(v[j]), ConstF(kEasy)));
    }
    if (HWY_LIKELY(hn::AllTrue(d, easy))) {
      for (size_t j = 0; j < kUnroll; ++j) v[j] = EasyExp(v[j]);
    } else {
      for (size_t j = 0; j < kUnroll; ++j) v[j] = AnyExp(v[j]);
    }
    for (size_t j = 0; j < kUnroll; ++j) {
      hn::StoreU(v[j], d, y + i + j * lanes);
    }
  }
}

void ExpRow(const float* x, size_t n, float* y) {
  constexpr size_t kMaxBlock = kUnroll * hn::MaxLanes(FloatTag());
  const size_t block = kUnroll * hn::Lanes(FloatTag());
  const size_t whole = n - n % block;
  ExpBlocks(x, whole, y);
  if (whole == n) return;
  float tail[kMaxBlock] = {};
  std::memcpy(tail, x + whole, (n - whole) * sizeof(float));
  ExpBlocks(tail, block, tail);
  std::memcpy(y + whole, tail, (n - whole) * sizeof(float));
}

}  // namespace HWY_NAMESPACE
}  // namespace trnemu::activation
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu::activation {
HWY_EXPORT(ExpRow);
void ExpRow(const float* x, size_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(ExpRow)(x, n, y);
}
}  // namespace trnemu::activation
#endif
