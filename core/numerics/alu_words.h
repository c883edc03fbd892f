// The operands of a kernel of alu_words.cc.
#ifndef TRNEMU_CORE_NUMERICS_ALU_WORDS_H_
#define TRNEMU_CORE_NUMERICS_ALU_WORDS_H_

#include <cstddef>
#include <cstdint>

namespace trnemu {

// Contiguous elements; out may be a or b.
struct WordOperands {
  const std::byte* a;
  const std::byte* b;  // or null: `scalar`, of no more bits than an element
  uint32_t scalar;
  bool reverse;  // b op a
  size_t n;
  std::byte* out;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_ALU_WORDS_H_
