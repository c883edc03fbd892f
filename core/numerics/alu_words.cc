// Bitvec and integer operations: on unsigned words of 32 bits, to which
// narrower elements are zero-extended.
#include "core/numerics/alu_words.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/numerics/alu.h"
#include "core/numerics/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/alu_words.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<uint32_t>;
using OneWord = hn::CappedTag<uint32_t, 1>;

// ---- Operations on vectors of words ----

struct AndWords {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::And(a, b);
  }
};

struct OrWords {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Or(a, b);
  }
};

struct XorWords {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Xor(a, b);
  }
};

// Shifts of elements of `width` bits. Bits that leave the element at the top
// are dropped when it is stored.
template <class D>
HWY_INLINE hn::Mask<D> Below(D d, hn::Vec<D> amount, uint32_t width) {
  return hn::Eq(hn::Min(amount, hn::Set(d, width - 1)), amount);
}

struct ShiftLeftWords {
  uint32_t width;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const auto shifted = hn::Shl(a, hn::And(b, hn::Set(d, 31)));
    return hn::IfThenElseZero(Below(d, b, width), shifted);
  }
};

struct ShiftRightWords {
  uint32_t width;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const auto shifted = hn::Shr(a, hn::And(b, hn::Set(d, 31)));
    return hn::IfThenElseZero(Below(d, b, width), shifted);
  }
};

struct AddWords {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct SubtractWords {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct MultiplyWords {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

// a > b as unsigned words after `flip`, which is 1 << 31 for signed ones.
template <class D>
HWY_INLINE hn::Mask<D> Greater(D d, hn::Vec<D> a, hn::Vec<D> b, uint32_t flip) {
  const hn::RebindToSigned<D> di;  // all targets compare these
  const auto top = hn::Set(d, flip ^ 0x80000000u);
  return hn::RebindMask(d, hn::Gt(hn::BitCast(di, hn::Xor(a, top)),
                                  hn::BitCast(di, hn::Xor(b, top))));
}

struct MaximumWords {
  uint32_t flip;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return hn::IfThenElse(Greater(d, a, b, flip), a, b);
  }
};

struct MinimumWords {
  uint32_t flip;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return hn::IfThenElse(Greater(d, b, a, flip), a, b);
  }
};

// The magnitude as an unsigned word: |-2^31| is 2^31.
template <class D>
HWY_INLINE hn::Vec<D> Magnitude(D d, hn::Vec<D> a, bool is_signed) {
  const hn::RebindToSigned<D> di;
  return is_signed ? hn::BitCast(d, hn::Abs(hn::BitCast(di, a))) : a;
}

// The word of the larger (kLess: smaller) magnitude, of a tie the second.
template <bool kLess>
struct AbsExtremeWords {
  bool is_signed;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const auto x = Magnitude(d, a, is_signed);
    const auto y = Magnitude(d, b, is_signed);
    return hn::IfThenElse(kLess ? Greater(d, y, x, 0) : Greater(d, x, y, 0), a,
                          b);
  }
};

// 1 where a > b (kSwap: b > a), or where not (kNegate).
template <bool kSwap, bool kNegate>
struct OrderWords {
  uint32_t flip;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const auto mask = kSwap ? Greater(d, b, a, flip) : Greater(d, a, b, flip);
    const auto one = hn::Set(d, 1);
    return kNegate ? hn::IfThenZeroElse(mask, one)
                   : hn::IfThenElseZero(mask, one);
  }
};

template <bool kNegate>
struct EqualWords {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const auto one = hn::Set(d, 1);
    return kNegate ? hn::IfThenZeroElse(hn::Eq(a, b), one)
                   : hn::IfThenElseZero(hn::Eq(a, b), one);
  }
};

// The logical operation: Op on 0 or 1 each.
template <class Op>
struct LogicalWords {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const auto one = hn::Set(d, 1);
    return Op()(d, hn::Min(a, one), hn::Min(b, one));
  }
};

// Calls visit(op) with the bitvec operation; nothing for any other.
template <class Visit>
HWY_INLINE void VisitBits(AluOp op, uint32_t width, const Visit& visit) {
  switch (op) {
    case AluOp::kBitwiseAnd:
      return visit(AndWords());
    case AluOp::kBitwiseOr:
      return visit(OrWords());
    case AluOp::kBitwiseXor:
      return visit(XorWords());
    case AluOp::kLeftShift:
      return visit(ShiftLeftWords{width});
    case AluOp::kRightShift:
      return visit(ShiftRightWords{width});
    default:
      return;
  }
}

// The same with the integer operation.
template <class Visit>
HWY_INLINE void VisitIntegers(AluOp op, bool is_signed, const Visit& visit) {
  const uint32_t flip = is_signed ? 0x80000000u : 0;
  switch (op) {
    case AluOp::kAdd:
      return visit(AddWords());
    case AluOp::kSubtract:
      return visit(SubtractWords());
    case AluOp::kMultiply:
      return visit(MultiplyWords());
    case AluOp::kMaximum:
      return visit(MaximumWords{flip});
    case AluOp::kMinimum:
      return visit(MinimumWords{flip});
    case AluOp::kAbsMax:
      return visit(AbsExtremeWords<false>{is_signed});
    case AluOp::kAbsMin:
      return visit(AbsExtremeWords<true>{is_signed});
    case AluOp::kEqual:
      return visit(EqualWords<false>());
    case AluOp::kNotEqual:
      return visit(EqualWords<true>());
    case AluOp::kGreater:
      return visit(OrderWords<false, false>{flip});
    case AluOp::kLessEqual:
      return visit(OrderWords<false, true>{flip});
    case AluOp::kLess:
      return visit(OrderWords<true, false>{flip});
    case AluOp::kGreaterEqual:
      return visit(OrderWords<true, true>{flip});
    case AluOp::kLogicalAnd:
      return visit(LogicalWords<AndWords>());
    case AluOp::kLogicalOr:
      return visit(LogicalWords<OrWords>());
    case AluOp::kLogicalXor:
      return visit(LogicalWords<XorWords>());
    default:
      return;
  }
}

// ---- Loops over elements of type T ----

template <typename T, class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const T* p) {
  if constexpr (sizeof(T) == sizeof(uint32_t)) {
    return hn::LoadU(d, p);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), p));
  }
}

template <typename T, class D>
HWY_INLINE void StoreElements(D d, hn::Vec<D> v, T* p) {
  if constexpr (sizeof(T) == sizeof(uint32_t)) {
    hn::StoreU(v, d, p);
  } else {
    const hn::Rebind<T, D> dt;
    const auto low = hn::And(v, hn::Set(d, std::numeric_limits<T>::max()));
    const hn::RebindToSigned<D> di;  // DemoteTo saturates, so mask first
    hn::StoreU(hn::DemoteTo(dt, hn::BitCast(di, low)), dt, p);
  }
}

template <typename T, class Op>
HWY_INLINE void Step(Op op, const WordOperands& o, const std::byte* a,
                     const std::byte* b, std::byte* out) {
  const Words d;
  const auto va = LoadElements(d, reinterpret_cast<const T*>(a));
  const auto vb = b != nullptr ? LoadElements(d, reinterpret_cast<const T*>(b))
                               : hn::Set(d, o.scalar);
  StoreElements(d, o.reverse ? op(d, vb, va) : op(d, va, vb),
                reinterpret_cast<T*>(out));
}

// The last `bytes`, fewer than a vector holds, by way of whole vectors: the
// shifts of a one-lane vector are wrong in Highway 1.0.3.
template <typename T, class Op>
void Tail(Op op, const WordOperands& o, size_t at, size_t bytes) {
  HWY_ALIGN std::byte a[HWY_MAX_BYTES] = {};
  HWY_ALIGN std::byte b[HWY_MAX_BYTES] = {};
  HWY_ALIGN std::byte out[HWY_MAX_BYTES];
  std::memcpy(a, o.a + at, bytes);
  if (o.b != nullptr) std::memcpy(b, o.b + at, bytes);
  Step<T>(op, o, a, o.b != nullptr ? b : nullptr, out);
  std::memcpy(o.out + at, out, bytes);
}

template <typename T>
struct VisitElements {
  WordOperands operands;

  template <class Op>
  HWY_INLINE void operator()(Op op) const {
    const WordOperands o = operands;
    const size_t step = hn::Lanes(Words()) * sizeof(T);
    const size_t end = o.n * sizeof(T);
    size_t at = 0;
    for (; at + step <= end; at += step) {
      Step<T>(op, o, o.a + at, o.b != nullptr ? o.b + at : nullptr, o.out + at);
    }
    if (at < end) Tail<T>(op, o, at, end - at);
  }
};

void BitvecKernel(AluOp op, unsigned element_bytes, const WordOperands& o) {
  const uint32_t width = 8 * element_bytes;
  switch (element_bytes) {
    case 1:
      return VisitBits(op, width, VisitElements<uint8_t>{o});
    case 2:
      return VisitBits(op, width, VisitElements<uint16_t>{o});
    case 4:
      return VisitBits(op, width, VisitElements<uint32_t>{o});
    default:
      return;
  }
}

void IntegerKernel(AluOp op, bool is_signed, const WordOperands& o) {
  VisitIntegers(op, is_signed, VisitElements<uint32_t>{o});
}

struct VisitFold {
  const uint32_t* row;
  size_t n;
  uint32_t* acc;

  template <class Op>
  HWY_INLINE void operator()(Op op) const {
    const OneWord d;
    auto sum = hn::Set(d, *acc);
    for (size_t i = 0; i < n; ++i) sum = op(d, sum, hn::LoadU(d, row + i));
    hn::StoreU(sum, d, acc);
  }
};

void FoldKernel(AluOp op, bool is_signed, const uint32_t* row, size_t n,
                uint32_t* acc) {
  VisitBits(op, 32, VisitFold{row, n, acc});
  VisitIntegers(op, is_signed, VisitFold{row, n, acc});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu {
namespace {

HWY_EXPORT(BitvecKernel);
HWY_EXPORT(IntegerKernel);
HWY_EXPORT(FoldKernel);

constexpr uint32_t ElementMask(unsigned element_bytes) {
  return element_bytes == 4 ? ~uint32_t{0} : (1u << (8 * element_bytes)) - 1;
}

}  // namespace

void BitvecRows(AluOp op, unsigned element_bytes, const std::byte* a,
                const std::byte* b, size_t n, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(BitvecKernel)
  (op, element_bytes, {a, b, 0, false, n, out});
}

void BitvecRowScalar(AluOp op, unsigned element_bytes, const std::byte* a,
                     uint32_t b, bool reverse, size_t n, std::byte* out) {
  // A shift by the width or more gives 0, however large the amount is.
  const bool shift = op == AluOp::kLeftShift || op == AluOp::kRightShift;
  if (shift && !reverse && b >= 8 * element_bytes) {
    std::memset(out, 0, n * element_bytes);
    return;
  }
  const uint32_t scalar = b & ElementMask(element_bytes);
  HWY_DYNAMIC_DISPATCH(BitvecKernel)
  (op, element_bytes, {a, nullptr, scalar, reverse, n, out});
}

void BitvecRowUnary(AluOp op, unsigned element_bytes, const std::byte* a,
                    size_t n, std::byte* out) {
  if (op != AluOp::kInvert) return;
  BitvecRowScalar(AluOp::kBitwiseXor, element_bytes, a, ~uint32_t{0}, false, n,
                  out);
}

void IntegerRows(AluOp op, bool is_signed, const uint32_t* a, const uint32_t* b,
                 size_t n, uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(IntegerKernel)
  (op, is_signed,
   {reinterpret_cast<const std::byte*>(a),
    reinterpret_cast<const std::byte*>(b), 0, false, n,
    reinterpret_cast<std::byte*>(out)});
}

void IntegerRowScalar(AluOp op, bool is_signed, const uint32_t* a, uint32_t b,
                      bool reverse, size_t n, uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(IntegerKernel)
  (op, is_signed,
   {reinterpret_cast<const std::byte*>(a), nullptr, b, reverse, n,
    reinterpret_cast<std::byte*>(out)});
}

uint32_t ReduceWords(AluOp op, bool is_signed, const uint32_t* row, size_t n,
                     uint32_t acc) {
  HWY_DYNAMIC_DISPATCH(FoldKernel)(op, is_signed, row, n, &acc);
  return acc;
}

uint32_t ReduceIdentityWord(AluOp op, bool is_signed) {
  switch (op) {
    case AluOp::kBitwiseAnd:
      return ~uint32_t{0};
    case AluOp::kMultiply:
    case AluOp::kLogicalAnd:
      return 1;
    case AluOp::kMaximum:
      return is_signed ? 0x80000000u : 0;
    case AluOp::kMinimum:
      return is_signed ? 0x7FFFFFFFu : ~uint32_t{0};
    default:
      return 0;
  }
}

}  // namespace trnemu
#endif  // HWY_ONCE
