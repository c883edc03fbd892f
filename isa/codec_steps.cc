// The order of instructions across a core's streams.
#include "absl/strings/str_cat.h"
#include "isa/codec_internal.h"
#include "isa/program_order.h"

namespace trnemu::codec {
namespace {

bool IsInserted(const Instruction& instruction) {
  return instruction.opcode == Opcode::kPsumReset ||
         instruction.opcode == Opcode::kNop;
}

Result At(const CoreProgram& core, const Instruction& instruction, Result r) {
  const auto& stream = core.stream(instruction.engine);
  return In(std::move(r), Name(instruction.engine),
            &instruction - stream.data());
}

// In program order no place is taken twice, and the expansion of an operation
// counts its steps from 0; what the passes put in between does not count.
Result CheckSteps(const CoreProgram& core) {
  ProgramOrder order(core);
  const Instruction* previous = nullptr;
  const Instruction* last = nullptr;
  while (const Instruction* next = order.Next()) {
    if (previous != nullptr && previous->order == next->order &&
        previous->step == next->step) {
      return At(
          core, *next,
          Wrong("order", "order",
                absl::StrCat("is ", next->order, " (step ", next->step,
                             "), as in the ",
                             std::string(Name(previous->engine)), " stream")));
    }
    previous = next;
    if (next->opcode == Opcode::kBranch) {
      const int64_t target =
          core.AttributesOf(*next)[slot::Branch::kTarget].integer();
      const auto size = static_cast<int64_t>(core.stream(next->engine).size());
      if (target < 0 || target > size) {
        return At(core, *next,
                  Wrong("branch", "target",
                        absl::StrCat("is ", target, ", not 0 to ", size)));
      }
    }
    if (IsInserted(*next)) continue;
    const bool follows = last != nullptr &&
                         last->operation == next->operation &&
                         last->step + 1 == next->step;
    if (next->step > 0 && !follows) {
      return At(core, *next,
                Wrong("step", "step",
                      absl::StrCat("is ", next->step,
                                   ", but the instruction before it in "
                                   "program order is not step ",
                                   next->step - 1, " of the same operation")));
    }
    last = next;
  }
  return nullptr;
}

}  // namespace

Result CheckStreams(const Program& program) {
  for (size_t i = 0; i < program.cores.size(); ++i) {
    if (Result r = CheckSteps(program.cores[i])) {
      return In(std::move(r), "cores", static_cast<int64_t>(i));
    }
  }
  return nullptr;
}

}  // namespace trnemu::codec
