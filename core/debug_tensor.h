// Tensors that people name.
#ifndef TRNEMU_CORE_DEBUG_TENSOR_H_
#define TRNEMU_CORE_DEBUG_TENSOR_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "isa/program.h"

namespace trnemu {

struct NamedTensor {
  uint32_t tensor = 0;    // index into Program::tensors
  std::string_view rest;  // of the text, behind the name: "" or "[..."
};
// The tensor that "t", "t[0:4]", "%3" or `%3"t"` (as trnemu disasm writes a
// name of several tensors) begins with. debug.place if there is none, or if
// several have the name: the first of them would be a guess.
absl::StatusOr<NamedTensor> FindNamedTensor(std::string_view text,
                                            const Program& program);

}  // namespace trnemu

#endif  // TRNEMU_CORE_DEBUG_TENSOR_H_
