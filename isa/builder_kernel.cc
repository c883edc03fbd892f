// What front ends ask of ProgramBuilder that learn what a tensor is for only
// when they have seen the whole kernel.
#include <algorithm>
#include <vector>

#include "isa/builder.h"
#include "isa/passes/accesses.h"

namespace trnemu {

void ProgramBuilder::SetKind(uint32_t tensor, TensorKind kind) {
  draft_.program.tensors[tensor].kind = kind;
}

int64_t ProgramBuilder::CountInstructions() const {
  int64_t n = 0;
  for (const auto& list : draft_.instructions) {
    n += static_cast<int64_t>(list.size());
  }
  return n;
}

void ProgramBuilder::SettleInputs() {
  std::vector<bool> written(draft_.program.tensors.size(), false);
  for (size_t core = 0; core < draft_.instructions.size(); ++core) {
    const CoreProgram& pools = draft_.program.cores[core];
    for (const Instruction& i : draft_.instructions[core]) {
      // A barrier names what the cores share, and changes nothing of it.
      if (IsMarker(i) || i.opcode == Opcode::kCoreBarrier) continue;
      ForEachAccess(pools, i, [&](const Access& access, Role role, bool index) {
        if (!index && role != Role::kIn) written[access.tensor] = true;
      });
    }
  }
  for (size_t t = 0; t < written.size(); ++t) {
    Tensor& tensor = draft_.program.tensors[t];
    if (tensor.kind == TensorKind::kInOut && !written[t]) {
      tensor.kind = TensorKind::kInput;
    }
  }
}

ProgramBuilder::Added ProgramBuilder::LastAdded() const {
  const auto end = static_cast<int64_t>(draft_.instructions[core_].size()) -
                   put_before_[core_];
  const auto& open = open_loops_[core_];
  return {core_, end - last_count_, end - 1,
          open.empty() ? 0 : open.back() + 1};
}

// Loops that are open where an instruction stands, as numbers + 1.
std::vector<uint32_t> ProgramBuilder::LoopsAround(const Added& added) const {
  std::vector<uint32_t> loops;
  const auto& list = draft_.instructions[added.core];
  const auto end = static_cast<size_t>(added.first + put_before_[added.core]);
  for (size_t i = 0; i < end; ++i) {
    if (IsLoopBegin(list[i])) loops.push_back(LoopOf(list[i]) + 1);
    if (IsLoopEnd(list[i])) loops.pop_back();
  }
  return loops;
}

absl::Status ProgramBuilder::Order(const Added& before, const Added& after) {
  if (before.core != after.core) {
    return MakeFault(Category::kIllegal, "nki.order",
                     "an instruction can only be ordered after another of its "
                     "core");
  }
  if (before.last < before.first || after.last < after.first) {
    return absl::OkStatus();  // registers' initial values and the like
  }
  if (before.last >= after.first) {
    return MakeFault(Category::kUnsupported, "nki.order_later",
                     "an instruction is to come after one that the kernel "
                     "issues later: move it behind that one");
  }
  if (before.loop != 0 && before.loop != after.loop) {
    const std::vector<uint32_t> around = LoopsAround(after);
    if (std::find(around.begin(), around.end(), before.loop) == around.end()) {
      return MakeFault(Category::kIllegal, "nki.order",
                       "an instruction cannot be ordered after one inside a "
                       "device loop that it is not in");
    }
  }
  auto& list = draft_.instructions[before.core];
  const int64_t shift = put_before_[before.core];
  Instruction& first = list[static_cast<size_t>(before.last + shift)];
  Instruction& then = list[static_cast<size_t>(after.first + shift)];
  for (Instruction* i : {&first, &then}) {
    if (i->order == 0) i->order = ++marks_;
  }
  draft_.orderings[before.core].emplace_back(first.order, then.order);
  return absl::OkStatus();
}

}  // namespace trnemu
