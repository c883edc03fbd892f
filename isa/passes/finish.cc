#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "isa/draft.h"

namespace trnemu {

Program FinishDraft(Draft draft) {
  for (size_t core = 0; core < draft.instructions.size(); ++core) {
    CoreProgram& out = draft.program.cores[core];
    std::array<size_t, kEngineNames.size()> counts{};
    for (const Instruction& instruction : draft.instructions[core]) {
      ++counts[static_cast<size_t>(instruction.engine)];
    }
    for (size_t e = 0; e < counts.size(); ++e) {
      out.streams[e].reserve(counts[e]);
    }
    uint32_t order = 0;
    for (Instruction instruction : draft.instructions[core]) {
      instruction.order = order++;
      out.stream(instruction.engine).push_back(instruction);
    }
  }
  return std::move(draft.program);
}

}  // namespace trnemu
