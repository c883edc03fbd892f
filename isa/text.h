// The text form of a program: readable, and lossless both ways.
//
//   trnemu-text 1
//   name "k"
//   target trn2
//   ...
//   tensor 3 t3 sbuf float32 (128, 512) core=0 partition=0 address=4096
//   core 0
//     vector #12 tensor_tensor.0 TensorTensor dst=t3[0:128, 0+512x1]:float32
//       ... op=add wait s0>=16 signal s1+=1 @src4        (all on one line)
//
// One line an instruction: engine, #order, operation.step, opcode, operands,
// attributes, waits ("/consume"), signals ("/read"), source. An access is
// tensor[first:last partition, offset+count x step,...]:dtype, in elements,
// with a dynamic offset as ` @vector t[...]:int32 dim=0 step=4 limit=3` (or
// @scalar, @tensor, or @register r3) before the bracket; a tensor or operation
// whose name is not unique is written %index"name". `;` starts a comment.
// docs/program-format.md has the grammar.
#ifndef TRNEMU_ISA_TEXT_H_
#define TRNEMU_ISA_TEXT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "isa/program.h"

namespace trnemu {

std::string ToText(const Program& program);

// Checks all that reading a program file checks. Malformed text is of category
// malformed, with the line, what was expected and what was found.
absl::StatusOr<Program> FromText(std::string_view text);

// Writes single instructions; keep one where many are written. The program
// must outlive it. Safe to use from several threads.
class Disassembler {
 public:
  explicit Disassembler(const Program& program);
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  ~Disassembler();

  // The instruction's line, without indentation and end of line.
  std::string Line(int core, const Instruction& instruction) const;
  // One operand slot of the core: an access, a number, a pattern; "" if
  // absent.
  std::string Line(int core, const Operand& operand) const;

 private:
  std::string AccessText(const CoreProgram& core, const Access& access) const;
  struct Names;
  const Program& program_;
  std::unique_ptr<Names> names_;
};

// The same for one instruction now and then.
std::string DisassembleInstruction(const Program& program, int core,
                                   const Instruction& instruction);

// "" if the programs are equal; else where they first differ (a header line, a
// byte of a constant, an instruction of a stream) and what both say.
std::string FirstDifference(const Program& a, const Program& b);

}  // namespace trnemu

#endif  // TRNEMU_ISA_TEXT_H_
