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

template <class DF, class Op>
void UnaryLoop(DF df, Op op, const float* a, size_t n, float* out) {
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

void UnaryKernel(AluOp op, const float* a, size_t n, float* out) {
  switch (op) {
    case AluOp::kAbs:
      return UnaryLoop(FullLanes(), AbsOp(), a, n, out);
    case AluOp::kSquare:
      return UnaryLoop(FullLanes(), SquareOp(), a, n, out);
    case AluOp::kRelu:
      return UnaryLoop(FullLanes(), ReluOp(), a, n, out);
    case AluOp::kReciprocal:
      return UnaryLoop(FullLanes(), ReciprocalOp(), a, n, out);
    case AluOp::kRsqrt:
      return UnaryLoop(HalfLanes(), RsqrtOp(), a, n, out);
    default:
      return;
  }
}

// ---- Two operands ----

template <class DF, class Op>
void BinaryLoop(DF df, Op op, const float* a, const float* b, size_t n,
                float* out) {
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto va = hn::LoadU(df, a + i);
    hn::StoreU(op(df, va, hn::LoadU(df, b + i)), df, out + i);
  }
  const OneLane d1;
  for (; i < n; ++i) {
    const auto va = hn::LoadU(d1, a + i);
    hn::StoreU(op(d1, va, hn::LoadU(d1, b + i)), d1, out + i);
  }
}

struct VisitRows {
  const float* a;
  const float* b;
  size_t n;
  float* out;

  template <class Op>
  HWY_INLINE void operator()(Op) const {
    BinaryLoop(FullLanes(), Canonical<Op>(), a, b, n, out);
  }
};

void RowsKernel(AluOp op, const float* a, const float* b, size_t n,
                float* out) {
  if (op == AluOp::kPower) {
    BinaryLoop(HalfLanes(), PowerOp(), a, b, n, out);
    return;
  }
  VisitBinary(op, VisitRows{a, b, n, out});
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

template <class Op, class DF>
void ScalarLoop(DF df, const float* a, float b, bool reverse, size_t n,
                float* out) {
  if (reverse) {
    UnaryLoop(df, WithScalar<Op, true>{b}, a, n, out);
  } else {
    UnaryLoop(df, WithScalar<Op, false>{b}, a, n, out);
  }
}

struct VisitScalar {
  const float* a;
  float b;
  bool reverse;
  size_t n;
  float* out;

  template <class Op>
  HWY_INLINE void operator()(Op) const {
    ScalarLoop<Canonical<Op>>(FullLanes(), a, b, reverse, n, out);
  }
};

void ScalarKernel(AluOp op, const float* a, float b, bool reverse, size_t n,
                  float* out) {
  if (op == AluOp::kPower) {
    ScalarLoop<PowerOp>(HalfLanes(), a, b, reverse, n, out);
    return;
  }
  VisitBinary(op, VisitScalar{a, b, reverse, n, out});
}

// ---- bfloat16 ----

// A word holds two elements; each becomes fp32 without leaving its word.
template <class Op, class DF>
HWY_INLINE void Bf16Pairs(DF df, const uint32_t* a, const uint32_t* b,
                          uint32_t* out) {
  const hn::RebindToUnsigned<DF> du;
  const auto upper = hn::Set(du, 0xFFFF0000u);
  const auto va = hn::LoadU(du, a);
  const auto vb = hn::LoadU(du, b);
  const auto high = Canonical<Op>()(df, hn::BitCast(df, hn::And(va, upper)),
                                    hn::BitCast(df, hn::And(vb, upper)));
  const auto low = Canonical<Op>()(df, hn::BitCast(df, hn::ShiftLeft<16>(va)),
                                   hn::BitCast(df, hn::ShiftLeft<16>(vb)));
  // To nearest even; the canonical NaN stays what it is.
  const auto round = [&](auto v) HWY_ATTR {
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    return hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF)));
  };
  hn::StoreU(
      hn::Or(hn::And(round(high), upper), hn::ShiftRight<16>(round(low))), du,
      out);
}

template <class Op>
void Bf16Loop(const uint16_t* a, const uint16_t* b, size_t n, uint16_t* out) {
  const FullLanes df;
  const auto words = [](const uint16_t* p) {
    return reinterpret_cast<const uint32_t*>(p);  // unaligned loads only
  };
  const size_t step = 2 * hn::Lanes(df);
  size_t i = 0;
  for (; i + step <= n; i += step) {
    Bf16Pairs<Op>(df, words(a + i), words(b + i),
                  reinterpret_cast<uint32_t*>(out + i));
  }
  const OneLane d1;
  for (; i < n; i += 2) {
    const size_t bytes = (n - i < 2 ? 1 : 2) * sizeof(uint16_t);
    uint32_t pair_a = 0;
    uint32_t pair_b = 0;
    uint32_t pair_out;
    std::memcpy(&pair_a, a + i, bytes);
    std::memcpy(&pair_b, b + i, bytes);
    Bf16Pairs<Op>(d1, &pair_a, &pair_b, &pair_out);
    std::memcpy(out + i, &pair_out, bytes);
  }
}

struct VisitBf16 {
  const uint16_t* a;
  const uint16_t* b;
  size_t n;
  uint16_t* out;

  template <class Op>
  HWY_INLINE void operator()(Op) const {
    Bf16Loop<Op>(a, b, n, out);
  }
};

bool Bf16Kernel(AluOp op, const uint16_t* a, const uint16_t* b, size_t n,
                uint16_t* out) {
  return VisitBinary(op, VisitBf16{a, b, n, out});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu {

HWY_EXPORT(RowsKernel);
HWY_EXPORT(ScalarKernel);
HWY_EXPORT(UnaryKernel);
HWY_EXPORT(Bf16Kernel);

void AluRows(AluOp op, const float* a, const float* b, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(RowsKernel)(op, a, b, n, out);
}

void AluRowScalar(AluOp op, const float* a, float b, bool reverse, size_t n,
                  float* out) {
  HWY_DYNAMIC_DISPATCH(ScalarKernel)(op, a, b, reverse, n, out);
}

void AluRowUnary(AluOp op, const float* a, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(UnaryKernel)(op, a, n, out);
}

bool AluRowsBf16(AluOp op, const uint16_t* a, const uint16_t* b, size_t n,
                 uint16_t* out) {
  return HWY_DYNAMIC_DISPATCH(Bf16Kernel)(op, a, b, n, out);
}

}  // namespace trnemu
#endif  // HWY_ONCE
