// The casts as function objects on vectors, per target: to fp32 from codes in
// a vector of Rebind<T, DF>, and back. Rules: convert.h, formats.h.
#if defined(TRNEMU_CORE_NUMERICS_CONVERT_OPS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef TRNEMU_CORE_NUMERICS_CONVERT_OPS_INL_H_
#undef TRNEMU_CORE_NUMERICS_CONVERT_OPS_INL_H_
#else
#define TRNEMU_CORE_NUMERICS_CONVERT_OPS_INL_H_
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class DF>
using BitsOf = hn::RebindToUnsigned<DF>;
template <class DF>
using IntOf = hn::RebindToSigned<DF>;
using OneLane = hn::CappedTag<float, 1>;

// ---- To fp32: Widen*(df, codes) for codes in a vector of Rebind<T, DF> ----

struct WidenInt {  // 8 and 16 bits of either sign, int32
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    const IntOf<DF> di;
    if constexpr (sizeof(hn::TFromV<V>) == 4) {
      return hn::ConvertTo(df, codes);
    } else {
      return hn::ConvertTo(df, hn::PromoteTo(di, codes));
    }
  }
};

struct WidenUint32 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    // Both halves are exact, so the addition is the only rounding.
    const IntOf<DF> di;
    const BitsOf<DF> du;
    const auto high = hn::BitCast(di, hn::ShiftRight<16>(codes));
    const auto low = hn::BitCast(di, hn::And(codes, hn::Set(du, 0xFFFF)));
    return hn::Add(hn::Mul(hn::ConvertTo(df, high), hn::Set(df, 65536.0f)),
                   hn::ConvertTo(df, low));
  }
};

struct WidenBf16 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    const BitsOf<DF> du;
    return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, codes)));
  }
};

struct WidenFp16 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    const hn::Rebind<hwy::float16_t, DF> dh;
    return hn::PromoteTo(df, hn::BitCast(dh, codes));
  }
};

struct WidenE5M2 {  // the upper half of float16
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    const hn::Rebind<uint16_t, DF> du16;
    return WidenFp16()(df, hn::ShiftLeft<8>(hn::PromoteTo(du16, codes)));
  }
};

// e4m3 codes as if exponent 15 were an ordinary one: fp16 with 4 bits of
// exponent is 2^8 too small.
template <class DF, class V>
HWY_INLINE hn::Vec<DF> WidenE4M3AllFinite(DF df, V codes) {
  const hn::Rebind<uint16_t, DF> du16;
  const auto wide = hn::PromoteTo(du16, codes);
  const auto sign =
      hn::ShiftLeft<8>(hn::And(wide, hn::Set(du16, uint16_t{0x80})));
  const auto mag =
      hn::ShiftLeft<7>(hn::And(wide, hn::Set(du16, uint16_t{0x7F})));
  return hn::Mul(WidenFp16()(df, hn::Or(sign, mag)), hn::Set(df, 256.0f));
}

struct WidenE4M3 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    const BitsOf<DF> du;
    const auto value = WidenE4M3AllFinite(df, codes);
    const auto mag = hn::Abs(value);
    const auto top = hn::Ge(mag, hn::Set(df, 256.0f));
    const auto nan = hn::Gt(mag, hn::Set(df, 256.0f));
    // 256 becomes infinity, the mantissa above it a quiet NaN's payload.
    const auto bits = hn::Add(
        hn::BitCast(du, value),
        hn::BitCast(du, hn::IfThenElseZero(
                            top, hn::BitCast(df, hn::Set(du, 0x3C000000)))));
    const auto quiet =
        hn::IfThenElseZero(nan, hn::BitCast(df, hn::Set(du, 0x400000)));
    return hn::Or(hn::BitCast(df, bits), quiet);
  }
};

struct WidenE4M3FN {
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    const BitsOf<DF> du;
    const auto value = WidenE4M3AllFinite(df, codes);
    const auto nan = hn::Eq(hn::Abs(value), hn::Set(df, 480.0f));
    const auto quiet = hn::BitCast(df, hn::Set(du, 0x7FC00000));
    return hn::IfThenElse(nan, hn::CopySign(quiet, value), value);
  }
};

template <class DF>
HWY_INLINE hn::Vec<BitsOf<DF>> RoundTf32Bits(DF df, hn::Vec<BitsOf<DF>> bits) {
  const BitsOf<DF> du;
  const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0xFFF)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));
  const auto nan = hn::RebindMask(du, hn::IsNaN(hn::BitCast(df, bits)));
  return hn::And(hn::IfThenElse(nan, quiet, rounded),
                 hn::Set(du, ~uint32_t{0x1FFF}));
}

struct WidenTf32 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<DF> operator()(DF df, V codes) const {
    return hn::BitCast(df, RoundTf32Bits(df, codes));
  }
};

// ---- From fp32: each gives the codes in a vector of Rebind<T, DF> ----

template <class DF>
HWY_INLINE hn::Vec<DF> NanToZero(DF, hn::Vec<DF> v) {
  return hn::IfThenElseZero(hn::Eq(v, v), v);
}

struct NarrowInt32 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<IntOf<DF>> operator()(DF df, V v) const {
    return hn::NearestInt(NanToZero(df, v));  // which saturates
  }
};

struct NarrowUint32 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<BitsOf<DF>> operator()(DF df, V v) const {
    const BitsOf<DF> du;
    const auto half = hn::Set(df, 0x1p31f);
    const auto positive = hn::Max(NanToZero(df, v), hn::Zero(df));
    const auto big = hn::Ge(positive, half);
    const auto reduced = hn::Sub(positive, hn::IfThenElseZero(big, half));
    const auto low = hn::BitCast(du, hn::NearestInt(reduced));
    return hn::Or(low, hn::IfThenElseZero(hn::RebindMask(du, big),
                                          hn::Set(du, 0x80000000u)));
  }
};

template <typename T>
struct NarrowSmallInt {
  template <class DF, class V>
  HWY_INLINE hn::Vec<hn::Rebind<T, DF>> operator()(DF df, V v) const {
    const auto low = hn::Set(df, std::numeric_limits<T>::min());
    const auto high = hn::Set(df, std::numeric_limits<T>::max());
    const auto clamped = hn::Min(hn::Max(NanToZero(df, v), low), high);
    return hn::DemoteTo(hn::Rebind<T, DF>(), hn::NearestInt(clamped));
  }
};

struct NarrowBool {
  template <class DF, class V>
  HWY_INLINE hn::Vec<hn::Rebind<uint8_t, DF>> operator()(DF, V v) const {
    const IntOf<DF> di;
    const auto mag = hn::BitCast(di, hn::Abs(v));
    return hn::DemoteTo(hn::Rebind<uint8_t, DF>(),
                        hn::Min(mag, hn::Set(di, 1)));
  }
};

// Codes below 2^16 or 2^8, as they are.
template <typename T, class DF>
HWY_INLINE hn::Vec<hn::Rebind<T, DF>> Truncate(DF, hn::Vec<BitsOf<DF>> codes) {
  return hn::DemoteTo(hn::Rebind<T, DF>(), hn::BitCast(IntOf<DF>(), codes));
}

struct NarrowBf16 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<hn::Rebind<uint16_t, DF>> operator()(DF df, V v) const {
    const BitsOf<DF> du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF)));
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));
    const auto nan = hn::RebindMask(du, hn::IsNaN(v));
    return Truncate<uint16_t>(
        df, hn::ShiftRight<16>(hn::IfThenElse(nan, quiet, rounded)));
  }
};

struct NarrowFp16 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<hn::Rebind<uint16_t, DF>> operator()(DF, V v) const {
    const hn::Rebind<hwy::float16_t, DF> dh;
    return hn::BitCast(hn::Rebind<uint16_t, DF>(), hn::DemoteTo(dh, v));
  }
};

// kBias is one more than the exponent of the smallest normal, negated.
template <int kMantissaBits, int kBias>
struct NarrowFp8 {
  uint32_t largest, overflow, nan;  // codes without sign

  template <class DF, class V>
  HWY_INLINE hn::Vec<hn::Rebind<uint8_t, DF>> operator()(DF df, V v) const {
    const BitsOf<DF> du;
    constexpr int kDrop = 23 - kMantissaBits;
    const auto mag = hn::BitCast(du, hn::Abs(v));
    const auto odd = hn::And(hn::ShiftRight<kDrop>(mag), hn::Set(du, 1));
    const auto rounded = hn::ShiftRight<kDrop>(
        hn::Add(mag, hn::Add(odd, hn::Set(du, (1u << (kDrop - 1)) - 1))));
    const auto normal =
        hn::Sub(rounded, hn::Set(du, uint32_t{127 - kBias} << kMantissaBits));
    // One unit in the last place of `magic` is the smallest subnormal.
    constexpr uint32_t kMagicBits = uint32_t{128 - kBias + kDrop} << 23;
    const auto magic = hn::BitCast(df, hn::Set(du, kMagicBits));
    const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(hn::Abs(v), magic)),
                                   hn::Set(du, kMagicBits));
    const auto smallest =
        hn::BitCast(df, hn::Set(du, uint32_t{128 - kBias} << 23));
    const auto tiny = hn::RebindMask(du, hn::Lt(hn::Abs(v), smallest));
    const auto code = hn::IfThenElse(tiny, subnormal, normal);
    return Truncate<uint8_t>(df, WithSign(df, v, Special(df, v, code)));
  }

 private:
  template <class DF, class V>
  HWY_INLINE hn::Vec<BitsOf<DF>> Special(DF, V v,
                                         hn::Vec<BitsOf<DF>> code) const {
    const BitsOf<DF> du;
    const auto over = hn::Gt(code, hn::Set(du, largest));
    const auto finite = hn::IfThenElse(over, hn::Set(du, overflow), code);
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
    return hn::IfThenElse(is_nan, hn::Set(du, nan), finite);
  }
  template <class DF, class V>
  HWY_INLINE hn::Vec<BitsOf<DF>> WithSign(DF, V v,
                                          hn::Vec<BitsOf<DF>> code) const {
    const BitsOf<DF> du;
    const auto sign =
        hn::And(hn::ShiftRight<24>(hn::BitCast(du, v)), hn::Set(du, 0x80));
    return hn::Or(sign, code);
  }
};

struct NarrowTf32 {
  template <class DF, class V>
  HWY_INLINE hn::Vec<BitsOf<DF>> operator()(DF df, V v) const {
    return RoundTf32Bits(df, hn::BitCast(BitsOf<DF>(), v));
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#endif  // TRNEMU_CORE_NUMERICS_CONVERT_OPS_INL_H_
