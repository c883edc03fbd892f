#include "isa/passes/dependences.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "isa/passes/footprint.h"
#include "isa/passes/region_map.h"

namespace trnemu {
namespace {

// The accesses so far to all memories of a core.
class Memory {
 public:
  Memory(const Draft& draft, uint32_t core, const std::vector<TensorUse>& uses)
      : program_(draft.program),
        core_(draft.program.cores[core]),
        uses_(uses) {}

  // Enters the operands of `instruction`. Writes come first: they have to meet
  // the earlier reads of their lane, which the instruction's own reads replace.
  // What index tiles need goes into `at_start`.
  void Add(const Instruction& instruction, Event event, Needs& needs,
           Needs& at_start) {
    // Before its own writes hide who wrote the indices.
    ForEachAccess(core_, instruction,
                  [&](const Access& a, Role, bool is_index) {
                    RegionMap* region = is_index ? RegionOf(a) : nullptr;
                    if (region == nullptr) return;
                    region->Check(FootprintOf(a, program_.tensors[a.tensor]),
                                  false, at_start);
                  });
    ForEachAccess(core_, instruction, [&](const Access& a, Role role, bool) {
      if (role != Role::kIn) Enter(a, event, true, needs, false);
    });
    ForEachAccess(core_, instruction,
                  [&](const Access& a, Role role, bool is_index) {
                    if (role != Role::kIn) return;
                    Enter(a, event, false, is_index ? at_start : needs, false);
                  });
  }
  void Check(const Composite& composite, Needs& needs) {
    for (const auto& [access, role] : composite.accesses) {
      if (RegionMap* region = RegionOf(access)) {
        region->Check(FootprintOf(access, program_.tensors[access.tensor]),
                      role != Role::kIn, needs);
      }
    }
  }
  void AddExit(const Composite& composite, Event event, Needs& needs) {
    for (const auto& [access, role] : composite.accesses) {
      Enter(access, event, role != Role::kIn, needs, true);
    }
  }

 private:
  // Null where nothing is ordered.
  RegionMap* RegionOf(const Access& access) {
    if (access.space == Space::kSbuf) return &sbuf_;
    if (access.space == Space::kPsum) return &psum_;
    const TensorUse& use = uses_[access.tensor];
    if (!use.written) return nullptr;
    return &hbm_.try_emplace(access.tensor, use.rows.pitch()).first->second;
  }
  void Enter(const Access& access, Event event, bool write, Needs& needs,
             bool opaque) {
    RegionMap* region = RegionOf(access);
    if (region == nullptr) return;
    region->Add(event, FootprintOf(access, program_.tensors[access.tensor]),
                write, needs, opaque);
  }

  const Program& program_;
  const CoreProgram& core_;
  const std::vector<TensorUse>& uses_;  // by tensor
  RegionMap sbuf_;
  RegionMap psum_;
  std::unordered_map<uint32_t, RegionMap> hbm_;  // by tensor
};

// The order of the machine, without waits or knowledge, puts the instruction
// of `mine` after `other`: instructions of one engine, and DMAs that are a
// single part on one queue.
bool InOrder(const Lanes& lanes, Event mine, Event other) {
  const LaneInfo& info = lanes.info[mine.lane];
  if (other.lane == static_cast<uint32_t>(info.engine)) return true;
  return other.lane == mine.lane && info.queues == 1;
}

// One pass over the items of a level, some number of times.
class Finder {
 public:
  Finder(const Draft& draft, uint32_t core, const std::vector<TensorUse>& uses,
         const Level& level, size_t iterations, const std::vector<bool>& forced)
      : instructions_(draft.instructions[core]),
        level_(level),
        iterations_(iterations),
        forced_(forced),
        memory_(draft, core, uses),
        result_(Lanes(draft.program, core, instructions_, level, iterations)),
        needs_(result_.lanes.info.size()),
        at_start_(result_.lanes.info.size()) {
    if (core >= draft.orderings.size()) return;
    for (const auto& [before, after] : draft.orderings[core]) {
      after_[after].push_back(before);
    }
  }

  Dependences Run() {
    const size_t n = level_.items.size();
    result_.first_wait.reserve(n * iterations_ + 1);
    for (size_t i = 0; i < n * iterations_; ++i) Add(i);
    result_.first_wait.push_back(result_.waits.size());
    return std::move(result_);
  }

 private:
  void Add(size_t i) {
    const size_t n = level_.items.size();
    const LevelItem& item = level_.items[i % n];
    const Instruction& instruction = instructions_[item.instruction];
    const Engine engine = instruction.engine;
    const Event event = result_.lanes.events[i];
    switch (item.kind) {
      case LevelItem::Kind::kPlain:
        memory_.Add(instruction, event, needs_, at_start_);
        Order(instruction.order);
        if (instruction.order != 0) marked_[instruction.order] = event;
        break;
      case LevelItem::Kind::kEntry:
        memory_.Check(level_.composites[item.composite], needs_);
        for (uint32_t mark : level_.composites[item.composite].marks) {
          Order(mark);
        }
        break;
      case LevelItem::Kind::kExit:
        memory_.AddExit(level_.composites[item.composite], event, needs_);
        break;
    }
    // Itself of the iteration before.
    const bool again = i >= n && Info(instruction.opcode).dma;
    const Event before = again ? result_.lanes.events[i - n] : Event{};
    if (again) needs_.Require(before);
    unknown_.clear();
    needs_.Drain([&](Event other) {
      if (other == event || InOrder(result_.lanes, event, other)) return;
      if (!result_.clocks.Knows(engine, other)) unknown_.push_back(other);
    });
    // A DMA reads its indices when it is triggered, not in its queue's turn.
    at_start_.Drain([&](Event other) {
      if (other == event || other.lane == static_cast<uint32_t>(engine)) return;
      if (!result_.clocks.Knows(engine, other)) unknown_.push_back(other);
    });
    Reduce();
    const bool must = again && forced_[i % n];
    if (must &&
        std::find(unknown_.begin(), unknown_.end(), before) == unknown_.end()) {
      unknown_.push_back(before);
    }
    result_.first_wait.push_back(result_.waits.size());
    for (Event other : unknown_) {
      result_.clocks.Wait(engine, other);
      result_.waits.push_back(other);
    }
    result_.clocks.Issue(engine, event);
  }

  // What the author wants complete before the instruction with `mark`; those
  // of other levels are met at the Nops of their loops.
  void Order(uint32_t mark) {
    if (mark == 0) return;
    const auto after = after_.find(mark);
    if (after == after_.end()) return;
    for (uint32_t before : after->second) {
      const auto at = marked_.find(before);
      if (at != marked_.end()) needs_.Require(at->second);
    }
  }

  // Removes what another of the unknown implies.
  void Reduce() {
    for (size_t i = 0; i < unknown_.size();) {
      bool implied = false;
      for (size_t j = 0; j < unknown_.size() && !implied; ++j) {
        implied = j != i && result_.clocks.Implies(unknown_[j], unknown_[i]);
      }
      if (implied) {
        unknown_.erase(unknown_.begin() + static_cast<ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  const std::vector<Instruction>& instructions_;
  const Level& level_;
  const size_t iterations_;
  const std::vector<bool>& forced_;
  Memory memory_;
  Dependences result_;
  Needs needs_;
  Needs at_start_;
  std::vector<Event> unknown_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> after_;  // by mark
  std::unordered_map<uint32_t, Event> marked_;                 // so far
};

}  // namespace

std::vector<TensorUse> FindUses(const Draft& draft, uint32_t core) {
  const std::vector<Tensor>& tensors = draft.program.tensors;
  std::vector<TensorUse> uses(tensors.size());
  for (const Instruction& instruction : draft.instructions[core]) {
    if (IsMarker(instruction)) continue;
    ForEachAccess(draft.program.cores[core], instruction,
                  [&](const Access& access, Role role, bool) {
                    TensorUse& use = uses[access.tensor];
                    if (role != Role::kIn) use.written = true;
                    if (access.on_chip()) return;
                    use.rows.Add(FootprintOf(access, tensors[access.tensor]));
                  });
  }
  return uses;
}

Dependences FindDependences(const Draft& draft, uint32_t core,
                            const std::vector<TensorUse>& uses,
                            const Level& level) {
  return Finder(draft, core, uses, level, 1, {}).Run();
}

Dependences FindLoopDependences(const Draft& draft, uint32_t core,
                                const std::vector<TensorUse>& uses,
                                const Level& level,
                                const std::vector<bool>& forced) {
  return Finder(draft, core, uses, level, 2, forced).Run();
}

}  // namespace trnemu
