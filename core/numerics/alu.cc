#include "core/numerics/alu.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/numerics/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/alu.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "core/numerics/alu_ops-inl.h"
#include "core/numerics/power-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FullLanes = hn::ScalableTag<float>;
// As many lanes as a vector has doubles, for what is computed in double.
using HalfLanes = hn::Rebind<float, hn::ScalableTag<double>>;

// ---- One operand ----

struct AbsOp {
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a) const {
    return CanonicalNan(df, hn::Abs(a));
  }
};

struct SquareOp {
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a) const {
    return CanonicalNan(df, hn::Mul(a, a));
  }
};

struct ReluOp {
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a) const {
    return hn::IfThenElseZero(hn::Gt(a, hn::Zero(df)), a);
  }
};

struct ReciprocalOp {
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a) const {
    return CanonicalNan(df, hn::Div(hn::Set(df, 1.0f), a));
  }
};

// Applies op, of one operand, to a row.
template <class DF, class Op>
HWY_INLINE void UnaryLoop(DF df, Op op, const float* a, size_t n, float* out) {
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(op(df, hn::LoadU(df, a + i)), df, out + i);
  }
  const OneLane d1;
  for (; i < n; ++i) {
    hn::StoreU(op(d1, hn::LoadU(d1, a + i)), d1, out + i);
  }
}

template <class DF, class Op>
void UnaryOnRow(const float* a, float /*b*/, size_t n, float* out) {
  UnaryLoop(DF(), Op(), a, n, out);
}

ScalarRow UnaryRowKernel(AluOp op) {
  switch (op) {
    case AluOp::kAbs:
      return &UnaryOnRow<FullLanes, AbsOp>;
    case AluOp::kSquare:
      return &UnaryOnRow<FullLanes, SquareOp>;
    case AluOp::kRelu:
      return &UnaryOnRow<FullLanes, ReluOp>;
    case AluOp::kReciprocal:
      return &UnaryOnRow<FullLanes, ReciprocalOp>;
    case AluOp::kRsqrt:
      return &UnaryOnRow<HalfLanes, RsqrtOp>;
    default:
      return nullptr;
  }
}

// ---- Two operands ----

template <class DF, class Op>
void BinaryOnRow(const float* a, const float* b, size_t n, float* out) {
  const DF df;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto va = hn::LoadU(df, a + i);
    hn::StoreU(Op()(df, va, hn::LoadU(df, b + i)), df, out + i);
  }
  const OneLane d1;
  for (; i < n; ++i) {
    const auto va = hn::LoadU(d1, a + i);
    hn::StoreU(Op()(d1, va, hn::LoadU(d1, b + i)), d1, out + i);
  }
}

BinaryRow BinaryRowKernel(AluOp op) {
  if (op == AluOp::kPower) return &BinaryOnRow<HalfLanes, PowerOp>;
  BinaryRow row = nullptr;
  VisitBinary(op, [&row](auto visited) {
    row = &BinaryOnRow<FullLanes, Canonical<decltype(visited)>>;
  });
  return row;
}

// op with one operand fixed, as an operation of one operand.
template <class Op, bool kReverse>
struct WithScalar {
  float scalar;

  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a) const {
    const auto b = hn::Set(df, scalar);
    return kReverse ? Op()(df, b, a) : Op()(df, a, b);
  }
};

template <class DF, class Op, bool kReverse>
void ScalarOnRow(const float* a, float b, size_t n, float* out) {
  UnaryLoop(DF(), WithScalar<Op, kReverse>{b}, a, n, out);
}

template <class DF, class Op>
ScalarRow ScalarRowFor(bool reverse) {
  return reverse ? &ScalarOnRow<DF, Op, true> : &ScalarOnRow<DF, Op, false>;
}

ScalarRow ScalarRowKernel(AluOp op, bool reverse) {
  if (op == AluOp::kPower) return ScalarRowFor<HalfLanes, PowerOp>(reverse);
  ScalarRow row = nullptr;
  const bool binary = VisitBinary(op, [&row, reverse](auto visited) {
    row = ScalarRowFor<FullLanes, Canonical<decltype(visited)>>(reverse);
  });
  return binary ? row : UnaryRowKernel(op);
}

// ---- bfloat16 ----

using WordLanes = hn::RebindToUnsigned<FullLanes>;
using FloatVec = hn::Vec<FullLanes>;

// A word holds two elements. Each becomes fp32 without leaving its word, so
// that no lane has to move.
struct Bf16Pairs {
  FloatVec high, low;
};

HWY_INLINE Bf16Pairs LoadPairs(const uint16_t* p) {
  const FullLanes df;
  const WordLanes du;
  const auto words = hn::LoadU(du, reinterpret_cast<const uint32_t*>(p));
  return {hn::BitCast(df, hn::And(words, hn::Set(du, 0xFFFF0000u))),
          hn::BitCast(df, hn::ShiftLeft<16>(words))};
}

// Rounds to nearest even; no NaN but the canonical one, which stays what it
// is. In 16-bit lanes, both elements of a word at once.
HWY_INLINE void StorePairs(const Bf16Pairs& pairs, uint16_t* p) {
  const WordLanes du;
  const hn::Repartition<uint16_t, WordLanes> d16;
  const auto high = hn::BitCast(du, pairs.high);
  const auto low = hn::BitCast(du, pairs.low);
  const auto kept = hn::OddEven(hn::BitCast(d16, high),
                                hn::BitCast(d16, hn::ShiftRight<16>(low)));
  const auto rest = hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(high)),
                                hn::BitCast(d16, low));
  // Up if rest + odd > 0x8000: then the average's sum is 0x10000 or more.
  const auto odd = hn::And(kept, hn::Set(d16, 1));
  const auto average =
      hn::AverageRound(rest, hn::Add(odd, hn::Set(d16, 0x7FFE)));
  hn::StoreU(hn::Add(kept, hn::ShiftRight<15>(average)), d16, p);
}

// Vectors handled together, so that one branch looks for NaNs in them.
constexpr size_t kBf16Unroll = 4;
constexpr size_t kMaxBf16Block =
    kBf16Unroll * hn::MaxLanes(hn::Repartition<uint16_t, FullLanes>());

template <class Op>
HWY_INLINE void Bf16Block(const uint16_t* a, const uint16_t* b, size_t lanes,
                          uint16_t* out) {
  const FullLanes df;
  Bf16Pairs results[kBf16Unroll];
  FloatVec nan = hn::Set(df, 1.0f);  // so that tiny products do not matter
  for (size_t j = 0; j < kBf16Unroll; ++j) {
    const Bf16Pairs x = LoadPairs(a + j * lanes);
    const Bf16Pairs y = LoadPairs(b + j * lanes);
    results[j] = {Op()(df, x.high, y.high), Op()(df, x.low, y.low)};
    // NaN if a result is; infinities may make it one too, which costs time.
    if constexpr (Op::kCanNan) {
      nan = hn::MulAdd(results[j].high, results[j].low, nan);
    }
  }
  if (Op::kCanNan && HWY_UNLIKELY(!hn::AllFalse(df, hn::IsNaN(nan)))) {
    for (Bf16Pairs& pairs : results) {
      pairs = {CanonicalNan(df, pairs.high), CanonicalNan(df, pairs.low)};
    }
  }
  for (size_t j = 0; j < kBf16Unroll; ++j) {
    StorePairs(results[j], out + j * lanes);
  }
}

template <class Op>
void Bf16OnRow(const uint16_t* a, const uint16_t* b, size_t n, uint16_t* out) {
  const size_t lanes = 2 * hn::Lanes(FullLanes());
  const size_t block = kBf16Unroll * lanes;
  size_t i = 0;
  for (; i + block <= n; i += block)
    Bf16Block<Op>(a + i, b + i, lanes, out + i);
  if (i == n) return;
  uint16_t tail_a[kMaxBf16Block] = {};
  uint16_t tail_b[kMaxBf16Block] = {};
  std::memcpy(tail_a, a + i, (n - i) * sizeof(uint16_t));
  std::memcpy(tail_b, b + i, (n - i) * sizeof(uint16_t));
  Bf16Block<Op>(tail_a, tail_b, lanes, tail_a);
  std::memcpy(out + i, tail_a, (n - i) * sizeof(uint16_t));
}

Bf16Row Bf16RowKernel(AluOp op) {
  Bf16Row row = nullptr;
  VisitBinary(op,
              [&row](auto visited) { row = &Bf16OnRow<decltype(visited)>; });
  return row;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu {

HWY_EXPORT(BinaryRowKernel);
HWY_EXPORT(ScalarRowKernel);
HWY_EXPORT(Bf16RowKernel);

BinaryRow BinaryRowOf(AluOp op) {
  return HWY_DYNAMIC_DISPATCH(BinaryRowKernel)(op);
}

ScalarRow ScalarRowOf(AluOp op, bool reverse) {
  return HWY_DYNAMIC_DISPATCH(ScalarRowKernel)(op, reverse);
}

Bf16Row Bf16RowOf(AluOp op) { return HWY_DYNAMIC_DISPATCH(Bf16RowKernel)(op); }

}  // namespace trnemu
#endif  // HWY_ONCE
