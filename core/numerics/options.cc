#include "core/numerics/options.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace trnemu {
namespace {

// Spellings, in the order of each enum.
constexpr std::array<std::string_view, 3> kMatmul = {"silicon", "chain",
                                                     "exact"};
constexpr std::array<std::string_view, 2> kTf32 = {"rne", "truncate"};
constexpr std::array<std::string_view, 2> kE4m3fn = {"nan", "saturate"};
constexpr std::array<std::string_view, 2> kScaleBias = {"separate", "fused"};
constexpr std::array<std::string_view, 2> kSubnormals = {"keep", "flush"};
constexpr std::array<std::string_view, 2> kMxScale = {"current", "legacy"};
constexpr std::array<std::string_view, 3> kNanToInteger = {"zero", "lowest",
                                                           "highest"};
constexpr std::array<std::string_view, 2> kFloatOverflow = {"infinity",
                                                            "saturate"};
constexpr std::array<std::string_view, 2> kIntegerOverflow = {"wrap",
                                                              "saturate"};
constexpr std::array<std::string_view, 2> kShiftOverflow = {"zero", "modulo"};
constexpr std::array<std::string_view, 2> kRepeatedIndex = {"next", "first"};

constexpr std::array<std::string_view, 3> kReduce = {"sequential", "pairwise",
                                                     "exact"};
constexpr std::array<std::string_view, 2> kTwoOps = {"separate", "fused"};
constexpr std::array<std::string_view, 1 + kTableErrors> kTableError = {
    "none", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
    "9",    "10", "11", "12", "13", "14", "15", "16"};

constexpr std::array<NumericsKey, 14> kKeys = {{
    {"matmul", kMatmul,
     "how products are summed: silicon (four 32-row chains, fp32 in two "
     "passes), chain (one ascending fp32 chain) or exact (fp64, rounded once)"},
    {"tf32", kTf32, "how a value becomes tfloat32: to nearest even, or cut"},
    {"e4m3fn_overflow", kE4m3fn,
     "what float8_e4m3fn makes of magnitudes above its range: NaN, or 448"},
    {"scale_bias", kScaleBias,
     "data * scale + bias rounded after each operation, or once"},
    {"subnormals", kSubnormals,
     "subnormals of the format read or written: kept, or made signed zeros"},
    {"mx_scale", kMxScale,
     "the scale rule of quantize_mx: that of API 0.5 and later, or the older"},
    {"nan_to_integer", kNanToInteger,
     "what NaN becomes in an integer dtype: 0, or its lowest or highest value"},
    {"float_overflow", kFloatOverflow,
     "a magnitude beyond float16, bfloat16, float8_e5m2 or float8_e4m3, "
     "infinity too, becomes infinity, or the largest finite value"},
    {"integer_overflow", kIntegerOverflow,
     "gpsimd's add, subtract and multiply of 32-bit integers: modulo 2^32, or "
     "saturated"},
    {"shift_overflow", kShiftOverflow,
     "a shift by the element's width or more gives 0, or shifts by the amount "
     "modulo the width"},
    {"repeated_index", kRepeatedIndex,
     "nc_find_index8 gives the next occurrence of a value that vals repeats, "
     "or the first again"},
    {"reduce", kReduce,
     "how add reduces a row: element after element, halves of halves, or in "
     "fp64, rounded once"},
    {"two_ops", kTwoOps,
     "multiply, then add or subtract, in tensor_scalar and "
     "scalar_tensor_tensor: rounded after each, or once"},
    {"table_error", kTableError,
     "an error of up to 1.5e-5 of each result of the scalar engine's tables: "
     "none, or one of 16 draws"},
}};

// The option that a key names, as the index of its value. `visit` gets a
// reference to the enum.
template <typename Options, typename Visit>
void VisitOption(Options& options, std::string_view key, Visit visit) {
  if (key == "matmul") visit(options.matmul);
  if (key == "tf32") visit(options.tf32);
  if (key == "e4m3fn_overflow") visit(options.e4m3fn_overflow);
  if (key == "scale_bias") visit(options.scale_bias);
  if (key == "subnormals") visit(options.subnormals);
  if (key == "mx_scale") visit(options.mx_scale);
  if (key == "nan_to_integer") visit(options.nan_to_integer);
  if (key == "float_overflow") visit(options.float_overflow);
  if (key == "integer_overflow") visit(options.integer_overflow);
  if (key == "shift_overflow") visit(options.shift_overflow);
  if (key == "repeated_index") visit(options.repeated_index);
  if (key == "reduce") visit(options.reduce);
  if (key == "two_ops") visit(options.two_ops);
  if (key == "table_error") visit(options.table_error);
}

const NumericsKey* FindKey(std::string_view name) {
  const auto* it =
      std::find_if(kKeys.begin(), kKeys.end(),
                   [name](const NumericsKey& key) { return key.name == name; });
  return it == kKeys.end() ? nullptr : it;
}

template <typename Names>
std::string Join(const Names& names) {
  std::string out;
  for (std::string_view name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

std::string UnknownKey(std::string_view key) {
  std::array<std::string_view, kKeys.size()> names;
  std::transform(kKeys.begin(), kKeys.end(), names.begin(),
                 [](const NumericsKey& k) { return k.name; });
  return "unknown numerics key '" + std::string(key) + "'; the keys are " +
         Join(names);
}

}  // namespace

std::span<const NumericsKey> NumericsKeys() { return kKeys; }

std::string SetNumericsOption(NumericsOptions& options, std::string_view key,
                              std::string_view value) {
  const NumericsKey* found = FindKey(key);
  if (found == nullptr) return UnknownKey(key);
  const auto it = std::find(found->values.begin(), found->values.end(), value);
  if (it == found->values.end()) {
    return "numerics " + std::string(key) + " cannot be '" +
           std::string(value) + "'; it is one of " + Join(found->values);
  }
  const auto index = it - found->values.begin();
  VisitOption(options, key, [index](auto& option) {
    option = static_cast<std::remove_reference_t<decltype(option)>>(index);
  });
  return "";
}

std::string_view NumericsOptionValue(const NumericsOptions& options,
                                     std::string_view key) {
  std::string_view name;
  const NumericsKey* found = FindKey(key);
  if (found == nullptr) return name;
  VisitOption(options, key, [&](const auto& option) {
    name = found->values[static_cast<size_t>(option)];
  });
  return name;
}

}  // namespace trnemu
