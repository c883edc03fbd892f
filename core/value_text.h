// Elements and bytes as people read them.
#ifndef TRNEMU_CORE_VALUE_TEXT_H_
#define TRNEMU_CORE_VALUE_TEXT_H_

#include <cstddef>
#include <span>
#include <string>

#include "isa/dtype.h"

namespace trnemu {

// The element's bytes as one number, "0x3f800000".
std::string BitsText(Dtype dtype, const std::byte* at);
// Numbers with `digits` significant ones; packed types as bits.
std::string ValueText(Dtype dtype, const std::byte* at, int digits = 6);
// Bytes in the order of memory, "0000803f".
std::string HexText(std::span<const std::byte> bytes);

}  // namespace trnemu

#endif  // TRNEMU_CORE_VALUE_TEXT_H_
