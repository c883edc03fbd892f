// The numeric rules that the documents leave open, as switches.
//
// Each has one default (the first value) and is set by `--numerics KEY=VALUE`.
// What is known about each: docs/numerics.md.
#ifndef TRNEMU_CORE_NUMERICS_OPTIONS_H_
#define TRNEMU_CORE_NUMERICS_OPTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trnemu {

// How the tensor engine multiplies and sums.
enum class MatmulRule : uint8_t { kSilicon, kChain, kExact };
// How a value becomes tfloat32, read or written.
enum class Tf32Rounding : uint8_t { kRne, kTruncate };
// What a magnitude above 448 becomes in float8_e4m3fn, which has no infinity.
enum class E4m3fnOverflow : uint8_t { kNan, kSaturate };
// Whether fn(data * scale + bias) rounds the product on its own.
enum class ScaleBias : uint8_t { kSeparate, kFused };
// What becomes of subnormal values of the format being read or written.
enum class Subnormals : uint8_t { kKeep, kFlush };
// Which formula quantize_mx takes its scale from.
enum class MxScale : uint8_t { kCurrent, kLegacy };
// What NaN becomes in an integer dtype.
enum class NanToInteger : uint8_t { kZero, kLowest, kHighest };
// Whether fp16, bf16, e5m2, e4m3 make infinity of a magnitude beyond them.
enum class FloatOverflow : uint8_t { kToInfinity, kSaturate };
// What gpsimd's 32-bit add, subtract and multiply make of a result that does
// not fit.
enum class IntegerOverflow : uint8_t { kWrap, kSaturate };
// A shift by the width of the element or more.
enum class ShiftOverflow : uint8_t { kZero, kModulo };
// Which occurrence nc_find_index8 gives for a value that vals repeats.
enum class RepeatedIndex : uint8_t { kNext, kFirst };

// The order in which add reduces a row, and a scan or accumulator does not:
// element after element, halves of halves, or in fp64 and rounded once.
enum class Reduction : uint8_t { kSequential, kPairwise, kExact };
// Whether multiply, then add or subtract, of one instruction rounds twice.
enum class TwoOps : uint8_t { kSeparate, kFused };
// An error of the scalar engine's tables, of the size that silicon shows: which
// of the draws, 0 for none.
enum class TableError : uint8_t { kNone = 0 };
inline constexpr int kTableErrors = 16;

struct NumericsOptions {
  MatmulRule matmul = MatmulRule::kSilicon;
  Tf32Rounding tf32 = Tf32Rounding::kRne;
  E4m3fnOverflow e4m3fn_overflow = E4m3fnOverflow::kNan;
  ScaleBias scale_bias = ScaleBias::kSeparate;
  Subnormals subnormals = Subnormals::kKeep;
  MxScale mx_scale = MxScale::kCurrent;
  NanToInteger nan_to_integer = NanToInteger::kZero;
  FloatOverflow float_overflow = FloatOverflow::kToInfinity;
  IntegerOverflow integer_overflow = IntegerOverflow::kWrap;
  ShiftOverflow shift_overflow = ShiftOverflow::kZero;
  RepeatedIndex repeated_index = RepeatedIndex::kNext;
  Reduction reduce = Reduction::kSequential;
  TwoOps two_ops = TwoOps::kSeparate;
  TableError table_error = TableError::kNone;

  friend bool operator==(const NumericsOptions&,
                         const NumericsOptions&) = default;
};

struct NumericsKey {
  std::string_view name;
  std::span<const std::string_view> values;  // the first is the default
  std::string_view doc;                      // one line
};

// Every key, in the order reports print them.
std::span<const NumericsKey> NumericsKeys();

// Sets one option. Returns "" or, leaving `options` as it was, a sentence that
// says what is wrong and lists what would be right.
std::string SetNumericsOption(NumericsOptions& options, std::string_view key,
                              std::string_view value);

// The name of the value an option has now; "" for an unknown key.
std::string_view NumericsOptionValue(const NumericsOptions& options,
                                     std::string_view key);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_OPTIONS_H_
