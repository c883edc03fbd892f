// The timed half of the scheduler: when instructions start and end.
#include <algorithm>

#include "core/extent.h"
#include "core/profile/timeline.h"
#include "core/runner.h"

namespace trnemu {
namespace {

// The byte interval of a tile in its partitions.
std::pair<int64_t, int64_t> Interval(const Tile& t) {
  const auto [low, high] = RowExtent(t);
  return {t.address + low, t.address + high};
}

bool Overlaps(const RecentWrite& w, const Tile& t) {
  if (w.space != t.space ||
      w.first_partition >= t.first_partition + t.partitions ||
      t.first_partition >= w.first_partition + w.partitions) {
    return false;
  }
  const auto [low, high] = Interval(t);
  return low < w.high && w.low < high;
}

// Quadrants of 32 partitions that a vector transpose reads and writes, as bits.
uint32_t QuadrantsOf(const Sequencer& s) {
  const auto bits = [](const Tile& t) {
    const uint32_t last = (t.first_partition + t.partitions - 1) / 32;
    return (2u << last) - (1u << t.first_partition / 32);
  };
  return bits(s.slots[slot::VectorTranspose::kDst].tile) << 4 |
         bits(s.slots[slot::VectorTranspose::kData].tile);
}

}  // namespace

void Runner::StartTime() {
  if (!options_.launch_overhead) return;
  const Ticks launch = ToTicks(machine_.hardware->sequencer.launch_ns);
  for (Sequencer& s : sequencers_) s.issue_ready = launch;
  profile_.end = launch;
}

// The run is over with the last completion, before some issue intervals are.
void Runner::EndTime() {
  for (const Sequencer& s : sequencers_) {
    profile_.engines[static_cast<size_t>(s.engine)].busy -=
        std::max<Ticks>(0, s.ports_until - profile_.end);
  }
  if (timeline_ != nullptr) timeline_->End(profile_.end);
}

// A dependent instruction of the same engine starts when the result is there
// (spec/timing.md 1.5: dependent start-to-start exceeds the issue interval).
Ticks Runner::StallOfDependence(const Sequencer& s) const {
  Ticks stall = 0;
  const auto specs = Info(s.next->opcode).operands;
  for (const RecentWrite& w : s.recent) {
    if (w.space == Space::kInvalid || w.completion <= s.issue_ready) continue;
    for (size_t o = 0; o < specs.size(); ++o) {
      if (s.slots[o].kind == Operand::Kind::kAccess &&
          specs[o].role != Role::kOut && Overlaps(w, s.slots[o].tile)) {
        stall = std::max(stall, w.completion);
      }
    }
  }
  return stall;
}

Ticks Runner::StallOfTensor(const Sequencer& s) const {
  const Opcode opcode = s.next->opcode;
  // The sequencer's own, and marks of the allocator, go beside the array.
  if (opcode == Opcode::kPsumReset ||
      (opcode >= Opcode::kRegisterMove && opcode <= Opcode::kBranch)) {
    return 0;
  }
  if (!UsesArray(opcode)) return s.array.AllFree();
  return LoadsArray(s.next->opcode) ? s.array.LoadStart(s.array_tile)
                                    : s.array.MultiplyStart(s.array_tile);
}

Ticks Runner::StallOfTranspose(const Sequencer& s) const {
  if (s.next->opcode != Opcode::kVectorTranspose || s.quadrants == 0 ||
      s.quadrants == QuadrantsOf(s)) {
    return 0;
  }
  return s.transpose_start + s.cost.quadrant_change;
}

void Runner::PrepareTime(Sequencer& s) {
  const Instruction& i = *s.next;
  if (Info(i.opcode).dma) {
    s.cost = {};
    // Indices are read by the sequencer, from what its engine has written.
    s.ready =
        s.dynamic ? std::max(s.issue_ready, s.last_completion) : s.issue_ready;
    s.ports = {};
  } else if (s.engine == Engine::kTensor) {
    CostFacts known = 0;
    if (UsesArray(i.opcode)) {
      s.array_tile =
          ArrayTileOf(i.opcode, program_.cores[s.core].AttributesOf(i));
      if (s.array.Onezero(s.array_tile)) {
        known = Fact(CostCondition::kOnezero);
      }
    }
    s.cost = CostOf(s, known);
    s.ready = std::max(s.issue_ready, StallOfTensor(s));
  } else {
    s.cost = CostOf(s);
    s.ready =
        std::max({s.issue_ready, StallOfDependence(s), StallOfTranspose(s)});
    PreparePorts(s);
  }
  s.earliest = std::max(s.ready, s.blocked ? Ticks{0} : now_);
}

// A pure function of the instruction: in a loop it is asked once.
Cost Runner::CostOf(Sequencer& s, CostFacts known) {
  if (s.costs.empty() || known != 0) {
    return time_.CostOf(s.next->opcode, ArgsOf(s), known);
  }
  auto& kept = s.costs[static_cast<size_t>(s.next - s.begin)];
  if (!kept) kept = time_.CostOf(s.next->opcode, ArgsOf(s));
  return *kept;
}

// The table that an activation needs, if it is not the one that is there.
void Runner::AddTableLoad(Sequencer& s, Cost& cost) const {
  const Instruction& i = *s.next;
  if (i.opcode != Opcode::kActivate && i.opcode != Opcode::kActivate2) return;
  static_assert(int{slot::Activate::kOp} == int{slot::Activate2::kOp});
  const auto f = program_.cores[s.core]
                     .AttributesOf(i)[slot::Activate::kOp]
                     .as<ActFunction>();
  const uint8_t table =
      machine_.hardware->activation_table[static_cast<size_t>(f)];
  if (table == 0 || table == s.table) return;
  s.table = table;
  cost.issue += time_.TableLoad();
  cost.completion += time_.TableLoad();
}

void Runner::AdvanceArray(Sequencer& s, Ticks start, Cost& cost) {
  const TensorEngineLimits& limits = machine_.hardware->tensor;
  const Opcode opcode = s.next->opcode;
  if (LoadsArray(opcode)) {
    s.array.Load(s.array_tile, start, cost.issue);
    if (opcode == Opcode::kLoadStationary) {
      s.array.SetOnezero(
          s.array_tile,
          program_.cores[s.core]
              .AttributesOf(*s.next)[slot::LoadStationary::kOnezero]
              .boolean());
    }
  } else {
    if (options_.throttle && s.array.Throttled(start, limits)) {
      cost.Stretch(1 / limits.throttled_rate);
    }
    const Tile& moving = s.slots[slot::MultiplyMoving::kMoving].tile;
    s.array.Multiply(
        s.array_tile, moving.partitions, start, cost.issue,
        ToTicks(machine_.hardware->engine(Engine::kTensor).minimum_issue_ns),
        limits);
  }
  s.issue_ready = start;
}

void Runner::AdvanceTime(Sequencer& s) {
  const Instruction& i = *s.next;
  const Ticks start = s.earliest;
  EngineProfile& profile = profile_.engines[static_cast<size_t>(s.engine)];
  profile.waiting += start - s.ready;
  Cost cost = s.cost;
  if (s.engine == Engine::kTensor && UsesArray(i.opcode)) {
    AdvanceArray(s, start, cost);
  } else {
    AddTableLoad(s, cost);
    s.issue_ready = start + cost.issue;
  }
  if (i.opcode == Opcode::kVectorTranspose) {
    s.quadrants = QuadrantsOf(s);
    s.transpose_start = start;
  }
  s.held_ports = s.ports;
  s.ports_until = start + cost.issue;
  profile.busy += cost.issue;
  s.last_completion = std::max(s.last_completion, start + cost.completion);
  if (std::max(cost.issue, cost.completion) >= kLongestCost) {
    foreseen_ = kLongestTime;
  }
  profile_.end = std::max(profile_.end, s.last_completion);
  const auto specs = Info(i.opcode).operands;
  if (s.engine == Engine::kTensor || specs.empty() ||
      specs[0].role == Role::kIn || s.slots[0].kind != Operand::Kind::kAccess) {
    return;
  }
  const Tile& dst = s.slots[0].tile;
  const auto [low, high] = Interval(dst);
  s.recent[s.recent_at] = {dst.space, dst.first_partition, dst.partitions, low,
                           high,      s.last_completion};
  s.recent_at = (s.recent_at + 1) % s.recent.size();
}

}  // namespace trnemu
