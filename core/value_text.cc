#include "core/value_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/numerics/convert.h"

namespace trnemu {
namespace {

uint64_t BitsOf(Dtype dtype, const std::byte* at) {
  uint64_t bits = 0;
  for (size_t b = 0; b < SizeOf(dtype); ++b) {
    bits |= uint64_t{static_cast<uint8_t>(at[b])} << (8 * b);
  }
  return bits;
}

}  // namespace

std::string BitsText(Dtype dtype, const std::byte* at) {
  return absl::StrFormat("0x%0*x", static_cast<int>(2 * SizeOf(dtype)),
                         BitsOf(dtype, at));
}

std::string ValueText(Dtype dtype, const std::byte* at, int digits) {
  if (IsPacked(dtype)) return BitsText(dtype, at);
  const uint64_t bits = BitsOf(dtype, at);
  // fp32 does not hold all of these.
  if (dtype == Dtype::kUint32) return absl::StrCat(bits);
  if (dtype == Dtype::kInt32) {
    return absl::StrCat(static_cast<int32_t>(static_cast<uint32_t>(bits)));
  }
  float value = 0;
  WidenRow(dtype, at, 0, 1, {}, &value);
  return absl::StrFormat("%.*g", digits, value);
}

std::string HexText(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    absl::StrAppendFormat(&text, "%02x", static_cast<unsigned>(b));
  }
  return text;
}

}  // namespace trnemu
