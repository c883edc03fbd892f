// What writer and parser of the text form share. Internal to isa/.
#ifndef TRNEMU_ISA_TEXT_INTERNAL_H_
#define TRNEMU_ISA_TEXT_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/opcodes.h"
#include "isa/program.h"

namespace trnemu::text {

inline constexpr std::string_view kFirstLine = "trnemu-text 1";
inline constexpr size_t kDataBytesPerLine = 64;

// The words of an attribute type in the order of their values; empty for
// types that are written as numbers.
std::vector<std::string_view> Vocabulary(AttributeType type);

// A letter or _, then letters, digits and _: written without quotes.
bool IsPlain(std::string_view name);
std::string Quote(std::string_view name);
// The shortest decimal that reads back as the same bits.
std::string Number(double value);

// The lines before the data and the streams, without ends of line.
std::vector<std::string> HeaderLines(const Program& program);

}  // namespace trnemu::text

#endif  // TRNEMU_ISA_TEXT_INTERNAL_H_
