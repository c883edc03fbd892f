#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "isa/draft.h"

namespace trnemu {
namespace {

// Where a loop begins and ends in one stream.
struct Ends {
  size_t top = 0;     // first instruction of the body
  size_t leaver = 0;  // attribute: where the branch before the body goes
  bool open = false;
};

// Sets the targets of the branches of loops: the first one of a loop in a
// stream leaves it, the second goes back to the body.
void ResolveBranches(CoreProgram& core) {
  for (std::vector<Instruction>& stream : core.streams) {
    std::map<int64_t, Ends> loops;
    for (size_t i = 0; i < stream.size(); ++i) {
      if (stream[i].opcode != Opcode::kBranch) continue;
      const size_t first = stream[i].first_attribute;
      Ends& ends =
          loops[core.attributes[first + slot::Branch::kLoop].integer()];
      ends.open = !ends.open;
      if (ends.open) {
        ends.top = i + 1;
        ends.leaver = first + slot::Branch::kTarget;
      } else {
        core.attributes[ends.leaver] =
            Attribute::Integer(static_cast<int64_t>(i + 1));
        core.attributes[first + slot::Branch::kTarget] =
            Attribute::Integer(static_cast<int64_t>(ends.top));
      }
    }
  }
}

}  // namespace

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
      if (IsMarker(instruction)) continue;
      instruction.order = order++;
      out.stream(instruction.engine).push_back(instruction);
    }
    const bool loops = core < draft.loops.size() && !draft.loops[core].empty();
    if (loops) ResolveBranches(out);
  }
  return std::move(draft.program);
}

}  // namespace trnemu
