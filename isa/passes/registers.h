// Which registers an instruction reads and writes.
#ifndef TRNEMU_ISA_PASSES_REGISTERS_H_
#define TRNEMU_ISA_PASSES_REGISTERS_H_

#include <cstdint>

#include "isa/program.h"

namespace trnemu {

inline constexpr uint32_t kNoRegister = 0xffffffff;

inline uint32_t WrittenRegister(const CoreProgram& core,
                                const Instruction& instruction) {
  const auto specs = Info(instruction.opcode).operands;
  const auto operands = core.OperandsOf(instruction);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (operands[i].kind == Operand::Kind::kRegister &&
        specs[i].role == Role::kOut) {
      return operands[i].reg();
    }
  }
  return kNoRegister;
}

// Calls visit(number) for each: operands, and counts of waits and signals.
template <typename Visit>
void ForEachRegisterRead(const CoreProgram& core,
                         const Instruction& instruction, Visit visit) {
  const auto specs = Info(instruction.opcode).operands;
  const auto operands = core.OperandsOf(instruction);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (operands[i].kind == Operand::Kind::kRegister &&
        specs[i].role != Role::kOut) {
      visit(operands[i].reg());
    }
    if (operands[i].kind != Operand::Kind::kAccess) continue;
    if (const Indirection* n = core.IndirectionOf(operands[i].access);
        n != nullptr && n->kind == IndirectionKind::kScalarRegister) {
      visit(n->reg);
    }
  }
  for (const Wait& w : core.WaitsOf(instruction)) {
    if (w.is_register) visit(static_cast<uint32_t>(w.value));
  }
  for (const Signal& s : core.SignalsOf(instruction)) {
    if (s.is_register) visit(static_cast<uint32_t>(s.value));
  }
}

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_REGISTERS_H_
