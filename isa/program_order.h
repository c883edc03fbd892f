// A core's instructions in the order the author wrote them.
#ifndef TRNEMU_ISA_PROGRAM_ORDER_H_
#define TRNEMU_ISA_PROGRAM_ORDER_H_

#include <array>
#include <cstddef>

#include "isa/program.h"

namespace trnemu {

// Merges the streams by (order, step); each stream keeps its own order. The
// core must outlive it.
class ProgramOrder {
 public:
  explicit ProgramOrder(const CoreProgram& core) : core_(core) {}
  // Null at the end.
  const Instruction* Next();

 private:
  const CoreProgram& core_;
  std::array<size_t, kEngineNames.size()> at_{};  // next of each stream
};

}  // namespace trnemu

#endif  // TRNEMU_ISA_PROGRAM_ORDER_H_
