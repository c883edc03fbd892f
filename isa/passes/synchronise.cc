// Per core, innermost loops first, then what is outside loops: who waits for
// whom, with vector clocks so that nothing known is waited for
// (passes/dependences.h), then the semaphores (passes/loop_semaphores.h,
// passes/semaphores.h).
#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "isa/draft.h"
#include "isa/passes/dependences.h"
#include "isa/passes/loop_semaphores.h"
#include "isa/passes/semaphores.h"

namespace trnemu {
namespace {

constexpr size_t kEngines = kEngineNames.size();

// A loop of the draft and where it lies.
struct Span {
  uint32_t begin = 0, end = 0;  // markers
  int parent = -1;
  int depth = 0;
  LoopNops nops;
};

// What a Nop that was put around a loop stands for.
struct NopRole {
  uint32_t instruction = 0;
  LevelItem::Kind kind = LevelItem::Kind::kEntry;
  int loop = 0;  // index into spans
};

class CoreSynchroniser {
 public:
  CoreSynchroniser(Draft& draft, uint32_t core, const Hardware& hardware)
      : draft_(draft),
        core_(core),
        hardware_(hardware),
        list_(draft.instructions[core]) {}

  absl::Status Run() {
    InsertNops();
    uses_ = FindUses(draft_, core_);
    LoopSemaphores semaphores(core_, hardware_, draft_);
    SyncPlan plan;
    for (size_t i = spans_.size(); i-- > 0;) {  // inner ones come later
      const Span& span = spans_[i];
      absl::Status status = SynchroniseLoop(
          draft_, core_, uses_, LevelBetween(span.begin + 1, span.end),
          span.nops, span.depth, semaphores, plan);
      if (!status.ok()) return status;
    }
    const Level level = LevelBetween(0, static_cast<uint32_t>(list_.size()));
    const Dependences dependences =
        FindDependences(draft_, core_, uses_, level);
    absl::Status status =
        AssignSemaphores(dependences, level, core_, hardware_, draft_, plan);
    if (status.ok()) status = ApplyPlan(std::move(plan), core_, draft_);
    if (status.ok()) DropIdleNops();
    return status;
  }

 private:
  void InsertNops();
  std::set<Engine> EnginesBetween(const std::vector<Instruction>& list,
                                  size_t begin) const;
  Level LevelBetween(uint32_t begin, uint32_t end) const;
  Composite CompositeOf(const Span& span, Engine engine) const;
  void DropIdleNops();

  Draft& draft_;
  const uint32_t core_;
  const Hardware& hardware_;
  std::vector<Instruction>& list_;
  std::vector<Span> spans_;
  std::vector<NopRole> nops_;  // by instruction
  std::vector<TensorUse> uses_;
};

// The engines with an instruction in the loop whose marker is at `begin`.
std::set<Engine> CoreSynchroniser::EnginesBetween(
    const std::vector<Instruction>& list, size_t begin) const {
  std::set<Engine> engines;
  int open = 0;
  for (size_t i = begin; i < list.size(); ++i) {
    if (IsLoopBegin(list[i])) ++open;
    if (IsLoopEnd(list[i]) && --open == 0) break;
    if (!IsMarker(list[i])) engines.insert(list[i].engine);
  }
  return engines;
}

void CoreSynchroniser::InsertNops() {
  if (draft_.loops.size() <= core_ || draft_.loops[core_].empty()) return;
  auto& names = draft_.program.operations;
  auto name = std::find(names.begin(), names.end(), "nop");
  if (name == names.end()) name = names.insert(names.end(), "nop");
  Instruction nop;
  nop.operation = static_cast<uint16_t>(name - names.begin());
  std::vector<Instruction> result;
  result.reserve(list_.size() + 64);
  std::vector<int> open;
  auto add = [&](Engine engine, int loop, LevelItem::Kind kind) {
    nop.engine = engine;
    nops_.push_back({static_cast<uint32_t>(result.size()), kind, loop});
    auto& slot = kind == LevelItem::Kind::kEntry ? spans_[loop].nops.entry
                                                 : spans_[loop].nops.exit;
    slot[static_cast<size_t>(engine)] = static_cast<uint32_t>(result.size());
    result.push_back(nop);
  };
  for (size_t i = 0; i < list_.size(); ++i) {
    if (IsLoopBegin(list_[i])) {
      const int loop = static_cast<int>(spans_.size());
      Span span;
      span.parent = open.empty() ? -1 : open.back();
      span.depth = static_cast<int>(open.size());
      spans_.push_back(span);
      nop.source = draft_.loops[core_][LoopOf(list_[i])].source;
      for (Engine e : EnginesBetween(list_, i)) {
        add(e, loop, LevelItem::Kind::kEntry);
      }
      spans_[loop].begin = static_cast<uint32_t>(result.size());
      open.push_back(loop);
      result.push_back(list_[i]);
    } else if (IsLoopEnd(list_[i])) {
      const int loop = open.back();
      open.pop_back();
      nop.source = draft_.loops[core_][LoopOf(list_[i])].source;
      spans_[loop].end = static_cast<uint32_t>(result.size());
      result.push_back(list_[i]);
      for (size_t e = 0; e < kEngines; ++e) {
        if (spans_[loop].nops.entry[e]) {
          add(static_cast<Engine>(e), loop, LevelItem::Kind::kExit);
        }
      }
    } else {
      result.push_back(list_[i]);
    }
  }
  list_ = std::move(result);
}

Composite CoreSynchroniser::CompositeOf(const Span& span, Engine engine) const {
  Composite composite;
  // Views that are used again and again count once.
  std::set<std::vector<int64_t>> seen;
  for (uint32_t i = span.begin; i < span.end; ++i) {
    if (IsMarker(list_[i]) || list_[i].engine != engine) continue;
    if (list_[i].order != 0) composite.marks.push_back(list_[i].order);
    ForEachAccess(draft_.program.cores[core_], list_[i],
                  [&](const Access& a, Role role, bool) {
                    const bool write = role != Role::kIn;
                    std::vector<int64_t> key = {write,
                                                a.tensor,
                                                a.start_partition,
                                                a.partitions,
                                                static_cast<int64_t>(a.dtype),
                                                a.offset,
                                                a.indirection};
                    for (const Dim& d : a.active_dims()) {
                      key.push_back(d.step);
                      key.push_back(d.count);
                    }
                    if (seen.insert(std::move(key)).second) {
                      composite.accesses.emplace_back(a, role);
                    }
                  });
  }
  return composite;
}

// The items from instruction `begin` to before `end`, loops as their Nops.
Level CoreSynchroniser::LevelBetween(uint32_t begin, uint32_t end) const {
  Level level;
  auto role = std::lower_bound(
      nops_.begin(), nops_.end(), begin,
      [](const NopRole& n, uint32_t i) { return n.instruction < i; });
  int open = 0;
  for (uint32_t i = begin; i < end; ++i) {
    const bool is_nop = role != nops_.end() && role->instruction == i;
    const NopRole* nop = is_nop ? &*role++ : nullptr;
    if (IsLoopEnd(list_[i])) --open;
    if (open == 0 && !IsMarker(list_[i])) {
      LevelItem item{i, LevelItem::Kind::kPlain, 0};
      if (nop != nullptr) {
        item.kind = nop->kind;
        item.composite = static_cast<uint32_t>(level.composites.size());
        level.composites.push_back(
            CompositeOf(spans_[nop->loop], list_[i].engine));
      }
      level.items.push_back(item);
    }
    if (IsLoopBegin(list_[i])) ++open;
  }
  return level;
}

void CoreSynchroniser::DropIdleNops() {
  if (nops_.empty()) return;
  size_t kept = 0;
  auto role = nops_.begin();
  for (size_t i = 0; i < list_.size(); ++i) {
    const bool is_nop = role != nops_.end() && role->instruction == i;
    if (is_nop) ++role;
    if (is_nop && list_[i].num_waits == 0 && list_[i].num_signals == 0) {
      continue;
    }
    list_[kept++] = list_[i];
  }
  list_.resize(kept);
}

}  // namespace

absl::Status Synchronise(Draft& draft, const Hardware& hardware) {
  for (uint32_t core = 0; core < draft.instructions.size(); ++core) {
    absl::Status status = CoreSynchroniser(draft, core, hardware).Run();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace trnemu
