// The views that an instruction reads and writes.
#ifndef TRNEMU_ISA_PASSES_ACCESSES_H_
#define TRNEMU_ISA_PASSES_ACCESSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "isa/program.h"

namespace trnemu {

// The scales of the MX tile in the operand before: the first four of every 32
// rows of their view. Others may pack theirs between
// (nki/deep-dives/mxfp-matmul.rst:228).
inline bool HoldsMxScales(Opcode opcode, size_t operand) {
  switch (opcode) {
    case Opcode::kLoadStationaryMx:
      return operand == slot::LoadStationaryMx::kStationaryScale;
    case Opcode::kMultiplyMovingMx:
      return operand == slot::MultiplyMovingMx::kMovingScale;
    case Opcode::kQuantizeMx:
      return operand == slot::QuantizeMx::kDstScale;
    default:
      return false;
  }
}

// Calls visit(access, role, whether it is a tile of indices) for each.
template <typename Visit>
void ForEachAccess(const CoreProgram& core, const Instruction& instruction,
                   Visit visit) {
  const auto specs = Info(instruction.opcode).operands;
  const auto operands = core.OperandsOf(instruction);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (operands[i].kind != Operand::Kind::kAccess) continue;
    const Access& access = operands[i].access;
    if (const Indirection* n = core.IndirectionOf(access);
        n != nullptr && n->has_index()) {
      visit(n->index, Role::kIn, true);
    }
    if (!HoldsMxScales(instruction.opcode, i)) {
      visit(access, specs[i].role, false);
      continue;
    }
    Access rows = access;
    rows.partitions = std::min<uint16_t>(4, access.partitions);
    for (int q = 0; q < operands[i - 1].access.partitions / 32; ++q) {
      visit(rows, specs[i].role, false);
      rows.start_partition = static_cast<uint16_t>(rows.start_partition + 32);
    }
  }
}

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_ACCESSES_H_
