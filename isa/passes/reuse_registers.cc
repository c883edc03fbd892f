// The counters of loops that are not open at the same time share a register,
// so that a program may have more loops than a sequencer has registers.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "isa/draft.h"
#include "isa/passes/registers.h"

namespace trnemu {
namespace {

// Where a register of a loop is in use, in instructions of its core. The value
// is set where the loop begins, so that it need not live through the loops
// around.
struct Use {
  uint32_t first = 0;
  uint32_t last = 0;
  bool seen = false;
  void Add(uint32_t at) {
    if (!seen) first = at;
    seen = true;
    last = std::max(last, at);
  }
};

class Reuse {
 public:
  Reuse(Draft& draft, size_t core)
      : pools_(draft.program.cores[core]),
        list_(draft.instructions[core]),
        loops_(draft.loops[core]) {}

  void Run() {
    FindUses();
    Number();
    Rewrite();
  }

 private:
  void FindUses();
  void Number();
  void Rewrite();
  void Replace(Operand& operand) const {
    if (operand.kind != Operand::Kind::kRegister) return;
    operand.immediate = NumberOf(operand.reg());
  }
  uint32_t NumberOf(uint32_t logical) const {
    const auto it = number_.find(logical);
    return it == number_.end() ? logical : it->second;
  }

  CoreProgram& pools_;
  std::vector<Instruction>& list_;
  std::vector<Loop>& loops_;
  std::map<uint32_t, Use> uses_;  // of the loops' registers
  std::map<uint32_t, uint32_t> number_;
};

void Reuse::FindUses() {
  for (const Loop& loop : loops_) {
    if (loop.kind != Loop::Kind::kCounted) continue;
    uses_[loop.induction];
    if (loop.owns_hi) uses_[loop.hi.reg()];
  }
  auto add = [&](uint32_t number, uint32_t at) {
    const auto it = uses_.find(number);
    if (it != uses_.end()) it->second.Add(at);
  };
  for (uint32_t i = 0; i < list_.size(); ++i) {
    if (IsMarker(list_[i])) {
      const Loop& loop = loops_[LoopOf(list_[i])];
      if (loop.kind != Loop::Kind::kCounted) continue;
      add(loop.induction, i);
      if (loop.owns_hi) add(loop.hi.reg(), i);
      continue;
    }
    ForEachRegisterRead(pools_, list_[i], [&](uint32_t n) { add(n, i); });
    add(WrittenRegister(pools_, list_[i]), i);
  }
}

// In the order in which they come into use, each the first number whose last
// use is over.
void Reuse::Number() {
  std::vector<std::pair<Use, uint32_t>> order;
  for (const auto& [logical, use] : uses_) order.push_back({use, logical});
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) {
                     return a.first.first < b.first.first;
                   });
  std::vector<std::pair<uint32_t, uint32_t>> numbers;  // number, last use
  for (const auto& [use, logical] : order) {
    auto it = std::find_if(
        numbers.begin(), numbers.end(),
        [&, first = use.first](const auto& n) { return n.second < first; });
    if (it == numbers.end()) it = numbers.insert(it, {logical, 0});
    it->second = use.last;
    number_[logical] = it->first;
  }
}

void Reuse::Rewrite() {
  for (Operand& operand : pools_.operands) {
    Replace(operand);
  }
  for (Indirection& i : pools_.indirections) {
    if (i.kind == IndirectionKind::kScalarRegister) i.reg = NumberOf(i.reg);
  }
  for (Wait& w : pools_.waits) {
    if (w.is_register) w.value = NumberOf(static_cast<uint32_t>(w.value));
  }
  for (Signal& s : pools_.signals) {
    if (s.is_register) s.value = NumberOf(static_cast<uint32_t>(s.value));
  }
  for (Loop& loop : loops_) {
    loop.induction = NumberOf(loop.induction);
    loop.condition = NumberOf(loop.condition);
    Replace(loop.lo);
    Replace(loop.hi);
  }
}

}  // namespace

void ReuseRegisters(Draft& draft) {
  for (size_t core = 0; core < draft.loops.size(); ++core) {
    if (!draft.loops[core].empty()) Reuse(draft, core).Run();
  }
}

}  // namespace trnemu
