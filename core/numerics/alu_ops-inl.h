// The binary and unary fp32 operations on vectors, per target. Rules: alu.h.
//
// Each is a function object of (tag, operands); kCanNan says that its result
// may be a NaN, whose bits are then the caller's to fix with CanonicalNan.
#if defined(TRNEMU_CORE_NUMERICS_ALU_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRNEMU_CORE_NUMERICS_ALU_OPS_INL_H_
#undef TRNEMU_CORE_NUMERICS_ALU_OPS_INL_H_
#else
#define TRNEMU_CORE_NUMERICS_ALU_OPS_INL_H_
#endif

#include "hwy/highway.h"
#include "isa/vocabulary.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using OneLane = hn::CappedTag<float, 1>;

template <class DF>
HWY_INLINE hn::Vec<DF> CanonicalNan(DF df, hn::Vec<DF> v) {
  const hn::RebindToUnsigned<DF> du;
  const auto nan = hn::BitCast(df, hn::Set(du, 0x7FC00000u));
  return hn::IfThenElse(hn::IsNaN(v), nan, v);
}

template <class DF>
HWY_INLINE hn::Vec<DF> OneIf(DF df, hn::Mask<DF> mask) {
  return hn::IfThenElseZero(mask, hn::Set(df, 1.0f));
}

// Equality is negated, since Highway's Ne is false for NaNs on AVX2.
template <class DF>
HWY_INLINE hn::Mask<DF> Truth(DF df, hn::Vec<DF> v) {
  return hn::Not(hn::Eq(v, hn::Zero(df)));
}

struct AddOp {
  static constexpr bool kCanNan = true;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct SubtractOp {
  static constexpr bool kCanNan = true;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct MultiplyOp {
  static constexpr bool kCanNan = true;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V a, V b) const {
    return hn::Mul(a, b);
  }
};

// Not Highway's Max: targets differ in NaNs and in signed zeros.
struct MaximumOp {
  static constexpr bool kCanNan = true;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(b)), a, b);
  }
};

struct MinimumOp {
  static constexpr bool kCanNan = true;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(b)), a, b);
  }
};

struct AbsMaxOp {
  static constexpr bool kCanNan = true;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V a, V b) const {
    const auto first = hn::Gt(hn::Abs(a), hn::Abs(b));
    return hn::IfThenElse(hn::Or(first, hn::IsNaN(b)), a, b);
  }
};

struct AbsMinOp {
  static constexpr bool kCanNan = true;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V a, V b) const {
    const auto first = hn::Lt(hn::Abs(a), hn::Abs(b));
    return hn::IfThenElse(hn::Or(first, hn::IsNaN(b)), a, b);
  }
};

struct EqualOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Eq(a, b));
  }
};

struct NotEqualOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Not(hn::Eq(a, b)));
  }
};

struct GreaterEqualOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Ge(a, b));
  }
};

struct GreaterOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Gt(a, b));
  }
};

struct LessEqualOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Le(a, b));
  }
};

struct LessOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Lt(a, b));
  }
};

struct LogicalAndOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::And(Truth(df, a), Truth(df, b)));
  }
};

struct LogicalOrOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Or(Truth(df, a), Truth(df, b)));
  }
};

struct LogicalXorOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    return OneIf(df, hn::Xor(Truth(df, a), Truth(df, b)));
  }
};

// The operation, with the canonical NaN if it can give one.
template <class Op>
struct Canonical {
  template <class DF, class V>
  HWY_INLINE V operator()(DF df, V a, V b) const {
    const V result = Op()(df, a, b);
    if constexpr (Op::kCanNan) return CanonicalNan(df, result);
    return result;
  }
};

// Calls visit(op) with the operation, unless it is power or not binary
// arithmetic. Returns whether it did.
template <class Visit>
HWY_INLINE bool VisitBinary(AluOp op, const Visit& visit) {
  switch (op) {
    case AluOp::kAdd:
      visit(AddOp());
      return true;
    case AluOp::kSubtract:
      visit(SubtractOp());
      return true;
    case AluOp::kMultiply:
      visit(MultiplyOp());
      return true;
    case AluOp::kMaximum:
      visit(MaximumOp());
      return true;
    case AluOp::kMinimum:
      visit(MinimumOp());
      return true;
    case AluOp::kEqual:
      visit(EqualOp());
      return true;
    case AluOp::kNotEqual:
      visit(NotEqualOp());
      return true;
    case AluOp::kGreaterEqual:
      visit(GreaterEqualOp());
      return true;
    case AluOp::kGreater:
      visit(GreaterOp());
      return true;
    case AluOp::kLessEqual:
      visit(LessEqualOp());
      return true;
    case AluOp::kLess:
      visit(LessOp());
      return true;
    case AluOp::kLogicalAnd:
      visit(LogicalAndOp());
      return true;
    case AluOp::kLogicalOr:
      visit(LogicalOrOp());
      return true;
    case AluOp::kLogicalXor:
      visit(LogicalXorOp());
      return true;
    case AluOp::kAbsMax:
      visit(AbsMaxOp());
      return true;
    case AluOp::kAbsMin:
      visit(AbsMinOp());
      return true;
    default:
      return false;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#endif  // TRNEMU_CORE_NUMERICS_ALU_OPS_INL_H_
