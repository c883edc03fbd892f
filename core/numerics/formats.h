// One element of each storage format, to and from fp32: the definition that
// the row kernels must agree with, in integer arithmetic throughout.
//
// The rules are in convert.h.
#ifndef TRNEMU_CORE_NUMERICS_FORMATS_H_
#define TRNEMU_CORE_NUMERICS_FORMATS_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "core/numerics/options.h"
#include "isa/dtype.h"

namespace trnemu {

// A binary floating-point format with a sign bit, narrower than fp32.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  uint32_t overflow;  // the code (without sign) that overflow gives
  uint32_t nan;       // the code (without sign) that NaN gives
  bool infinities;    // whether the top exponent holds infinity and NaNs
};

inline constexpr SmallFloat kFormatE4M3 = {4, 3, 7, 0x78, 0x7C, true};
inline constexpr SmallFloat kFormatE5M2 = {5, 2, 15, 0x7C, 0x7E, true};
inline constexpr SmallFloat kFormatE4M3FN = {4, 3, 7, 0x7F, 0x7F, false};
inline constexpr SmallFloat kFormatFp16 = {5, 10, 15, 0x7C00, 0x7E00, true};
inline constexpr SmallFloat kFormatBf16 = {8, 7, 127, 0x7F80, 0x7FC0, true};

inline constexpr uint32_t kE4M3FNMax = 0x7E;  // 448

constexpr int Bits(const SmallFloat& f) {
  return 1 + f.exponent_bits + f.mantissa_bits;
}
// The largest code of a finite magnitude.
constexpr uint32_t LargestFinite(const SmallFloat& f) { return f.overflow - 1; }

constexpr bool IsNanBits(uint32_t fp32) {
  return (fp32 & 0x7FFFFFFF) > 0x7F800000;
}

// value / 2^shift to nearest even, for value < 2^24.
constexpr uint32_t ShiftRightRne(uint32_t value, int shift) {
  if (shift <= 0) return value;
  if (shift > 25) return 0;
  const uint32_t half = (1u << (shift - 1)) - 1;
  return (value + half + ((value >> shift) & 1)) >> shift;
}

// The code of the finite fp32 magnitude `mag` in `f`, to nearest even; above
// LargestFinite(f) when it overflows.
constexpr uint32_t RoundMagnitude(const SmallFloat& f, uint32_t mag) {
  const int drop = 23 - f.mantissa_bits;
  const int exponent = static_cast<int>(mag >> 23);
  const int min_exponent = 128 - f.bias;  // fp32's, of the smallest normal
  if (exponent >= min_exponent) {
    const uint32_t half = (1u << (drop - 1)) - 1;
    const uint32_t rounded = (mag + half + ((mag >> drop) & 1)) >> drop;
    return rounded - (static_cast<uint32_t>(127 - f.bias) << f.mantissa_bits);
  }
  const uint32_t significand =
      (mag & 0x7FFFFF) | (exponent != 0 ? 0x800000u : 0u);
  const int effective = exponent != 0 ? exponent : 1;
  return ShiftRightRne(significand, drop + min_exponent - effective);
}

constexpr uint32_t NarrowFloat(const SmallFloat& f, uint32_t fp32,
                               uint32_t overflow, bool flush) {
  const uint32_t sign = fp32 >> 31 << (Bits(f) - 1);
  const uint32_t mag = fp32 & 0x7FFFFFFF;
  if (mag > 0x7F800000) {
    // fp16 and bf16 keep the top of the payload; fp8 has no room for one.
    const uint32_t payload =
        Bits(f) == 16 ? (mag & 0x7FFFFF) >> (23 - f.mantissa_bits) : 0;
    return sign | f.nan | payload;
  }
  uint32_t code = mag == 0x7F800000 ? f.overflow : RoundMagnitude(f, mag);
  if (code > LargestFinite(f)) code = overflow;
  if (flush && (code >> f.mantissa_bits) == 0) code = 0;
  return sign | code;
}

// The fp32 bits of a code; NaNs become quiet.
constexpr uint32_t WidenFloat(const SmallFloat& f, uint32_t code, bool flush) {
  const uint32_t sign = (code >> (Bits(f) - 1)) << 31;
  const uint32_t mag = code & ((1u << (Bits(f) - 1)) - 1);
  const int shift = 23 - f.mantissa_bits;
  const uint32_t bias_difference = static_cast<uint32_t>(127 - f.bias) << 23;
  if (mag > LargestFinite(f)) {
    if (!f.infinities) return sign | 0x7FC00000;
    const uint32_t mantissa = mag & ((1u << f.mantissa_bits) - 1);
    if (mantissa == 0) return sign | 0x7F800000;
    return sign | 0x7FC00000 | mantissa << shift;
  }
  if ((mag >> f.mantissa_bits) != 0) {
    return sign | ((mag << shift) + bias_difference);
  }
  if (mag == 0 || flush) return sign;
  if (f.bias == 127) return sign | mag << shift;  // fp32 subnormals alike
  // Normalise: the leading one at position p is worth 2^(p+1-bias-m).
  const int p = std::bit_width(mag) - 1;
  const int exponent = p + 1 - f.bias - f.mantissa_bits + 127;
  const uint32_t fraction = (mag << (23 - p)) & 0x7FFFFF;
  return sign | static_cast<uint32_t>(exponent) << 23 | fraction;
}

constexpr uint32_t FlushFp32(uint32_t fp32) {
  return (fp32 & 0x7F800000) == 0 ? fp32 & 0x80000000 : fp32;
}

constexpr uint32_t RoundTf32(uint32_t fp32, Tf32Rounding rounding) {
  if (IsNanBits(fp32)) return (fp32 | 0x400000) & ~0x1FFFu;
  if (rounding == Tf32Rounding::kTruncate) return fp32 & ~0x1FFFu;
  return (fp32 + 0xFFF + ((fp32 >> 13) & 1)) & ~0x1FFFu;
}

constexpr uint32_t WidenE8M0(uint32_t code) {
  if (code == 255) return 0x7FC00000;
  return code == 0 ? 0x00400000 : code << 23;
}

constexpr uint32_t NarrowE8M0(uint32_t fp32) {
  const uint32_t mag = fp32 & 0x7FFFFFFF;
  if (mag == 0) return 0;
  if (fp32 >= 0x7F800000) return 255;  // negative, infinite or NaN
  if (mag < 0x00800000) return mag >= 0x00600000 ? 1 : 0;
  return (mag + 0x400000) >> 23;  // 255 from 1.5 * 2^127 on
}

// What NaN becomes, in two's complement.
template <typename Int>
constexpr uint32_t NanAsInteger(NanToInteger rule) {
  if (rule == NanToInteger::kZero) return 0;
  return static_cast<uint32_t>(rule == NanToInteger::kLowest
                                   ? std::numeric_limits<Int>::min()
                                   : std::numeric_limits<Int>::max());
}

// To nearest even, then saturated. Returns the two's complement.
template <typename Int>
constexpr uint32_t NarrowInteger(uint32_t fp32, const NumericsOptions& o) {
  if (IsNanBits(fp32)) return NanAsInteger<Int>(o.nan_to_integer);
  constexpr double kLow = std::numeric_limits<Int>::min();
  constexpr double kHigh = std::numeric_limits<Int>::max();
  constexpr double kMagic = 0x1.8p52;  // rounds to an integer when added
  const double value = std::bit_cast<float>(fp32);
  const double clamped = value < kLow ? kLow : (value > kHigh ? kHigh : value);
  return static_cast<uint32_t>(
      static_cast<int64_t>((clamped + kMagic) - kMagic));
}

// What a magnitude beyond the range becomes.
constexpr uint32_t OverflowCode(const SmallFloat& f, const NumericsOptions& o) {
  return o.float_overflow == FloatOverflow::kSaturate ? LargestFinite(f)
                                                      : f.overflow;
}

// The code of an element of at most 32 bits that an fp32 value is stored as.
template <Dtype kDtype>
constexpr uint32_t NarrowElement(uint32_t fp32, const NumericsOptions& o) {
  const bool flush = o.subnormals == Subnormals::kFlush;
  if constexpr (kDtype == Dtype::kUint8) return NarrowInteger<uint8_t>(fp32, o);
  if constexpr (kDtype == Dtype::kInt8) return NarrowInteger<int8_t>(fp32, o);
  if constexpr (kDtype == Dtype::kUint16)
    return NarrowInteger<uint16_t>(fp32, o);
  if constexpr (kDtype == Dtype::kInt16) return NarrowInteger<int16_t>(fp32, o);
  if constexpr (kDtype == Dtype::kUint32)
    return NarrowInteger<uint32_t>(fp32, o);
  if constexpr (kDtype == Dtype::kInt32) return NarrowInteger<int32_t>(fp32, o);
  if constexpr (kDtype == Dtype::kBool) return (fp32 & 0x7FFFFFFF) != 0;
  if constexpr (kDtype == Dtype::kFloat8E4M3) {
    return NarrowFloat(kFormatE4M3, fp32, OverflowCode(kFormatE4M3, o), flush);
  }
  if constexpr (kDtype == Dtype::kFloat8E5M2) {
    return NarrowFloat(kFormatE5M2, fp32, OverflowCode(kFormatE5M2, o), flush);
  }
  if constexpr (kDtype == Dtype::kFloat8E4M3FN) {
    const bool saturate = o.e4m3fn_overflow == E4m3fnOverflow::kSaturate;
    return NarrowFloat(kFormatE4M3FN, fp32,
                       saturate ? kE4M3FNMax : kFormatE4M3FN.overflow, flush);
  }
  if constexpr (kDtype == Dtype::kFloat8E8M0FNU) return NarrowE8M0(fp32);
  if constexpr (kDtype == Dtype::kFloat16) {
    return NarrowFloat(kFormatFp16, fp32, OverflowCode(kFormatFp16, o), flush);
  }
  if constexpr (kDtype == Dtype::kBFloat16) {
    return NarrowFloat(kFormatBf16, fp32, OverflowCode(kFormatBf16, o), flush);
  }
  if constexpr (kDtype == Dtype::kTFloat32) {
    const uint32_t rounded = RoundTf32(fp32, o.tf32);
    return flush ? FlushFp32(rounded) : rounded;
  }
  return flush ? FlushFp32(fp32) : fp32;
}

// The fp32 bits of the element whose zero-extended bits are `code`.
template <Dtype kDtype>
constexpr uint32_t WidenElement(uint32_t code, const NumericsOptions& o) {
  const bool flush = o.subnormals == Subnormals::kFlush;
  const auto bits = [](auto integer) {
    return std::bit_cast<uint32_t>(static_cast<float>(integer));
  };
  if constexpr (kDtype == Dtype::kInt8) return bits(static_cast<int8_t>(code));
  if constexpr (kDtype == Dtype::kInt16) {
    return bits(static_cast<int16_t>(code));
  }
  if constexpr (kDtype == Dtype::kInt32) {
    return bits(static_cast<int32_t>(code));
  }
  if constexpr (IsInteger(kDtype)) return bits(code);
  if constexpr (kDtype == Dtype::kBool) return bits(code != 0 ? 1 : 0);
  if constexpr (kDtype == Dtype::kFloat8E4M3) {
    return WidenFloat(kFormatE4M3, code, flush);
  }
  if constexpr (kDtype == Dtype::kFloat8E5M2) {
    return WidenFloat(kFormatE5M2, code, flush);
  }
  if constexpr (kDtype == Dtype::kFloat8E4M3FN) {
    return WidenFloat(kFormatE4M3FN, code, flush);
  }
  if constexpr (kDtype == Dtype::kFloat8E8M0FNU) return WidenE8M0(code);
  if constexpr (kDtype == Dtype::kFloat16) {
    return WidenFloat(kFormatFp16, code, flush);
  }
  if constexpr (kDtype == Dtype::kBFloat16) {
    return flush ? FlushFp32(code << 16) : code << 16;
  }
  if constexpr (kDtype == Dtype::kTFloat32) {
    const uint32_t rounded = RoundTf32(code, o.tf32);
    return flush ? FlushFp32(rounded) : rounded;
  }
  return flush ? FlushFp32(code) : code;
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_FORMATS_H_
