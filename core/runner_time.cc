// The timed half of the scheduler: when instructions start and end.
#include <algorithm>

#include "core/extent.h"
#include "core/runner.h"

namespace trnemu {
namespace {

constexpr int kQueues = 16;

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

bool OnArray(Opcode opcode) {
  return opcode == Opcode::kLoadStationary ||
         opcode == Opcode::kMultiplyMoving ||
         opcode == Opcode::kLoadStationaryMx ||
         opcode == Opcode::kMultiplyMovingMx;
}

bool Loads(Opcode opcode) {
  return opcode == Opcode::kLoadStationary ||
         opcode == Opcode::kLoadStationaryMx;
}

}  // namespace

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
  if (Loads(s.next->opcode)) return s.load_free;
  if (OnArray(s.next->opcode)) {
    return std::max(s.array_free, s.load_ready);
  }
  return std::max(s.load_free, s.array_free);
}

void Runner::PrepareTime(Sequencer& s) {
  const Instruction& i = *s.next;
  if (Info(i.opcode).dma) {
    s.cost = {};
    // Indices are read by the sequencer, from what its engine has written.
    s.ready =
        s.dynamic ? std::max(s.issue_ready, s.last_completion) : s.issue_ready;
  } else {
    s.cost = CostOf(s);
    s.ready = s.engine == Engine::kTensor
                  ? std::max(s.issue_ready, StallOfTensor(s))
                  : std::max(s.issue_ready, StallOfDependence(s));
  }
  s.earliest = std::max(s.ready, s.blocked ? Ticks{0} : now_);
}

// A pure function of the instruction: in a loop it is asked once.
Cost Runner::CostOf(Sequencer& s) {
  if (s.costs.empty()) return time_.CostOf(s.next->opcode, ArgsOf(s));
  auto& known = s.costs[static_cast<size_t>(s.next - s.begin)];
  if (!known) known = time_.CostOf(s.next->opcode, ArgsOf(s));
  return *known;
}

void Runner::AdvanceTime(Sequencer& s) {
  const Instruction& i = *s.next;
  const TensorEngineLimits& pe = machine_.hardware->tensor;
  Ticks start = s.earliest;
  EngineProfile& profile = profile_.engines[static_cast<size_t>(s.engine)];
  profile.waiting += start - s.ready;
  Cost cost = s.cost;
  if (i.opcode == Opcode::kActivate || i.opcode == Opcode::kActivate2) {
    static_assert(int{slot::Activate::kOp} == int{slot::Activate2::kOp});
    const auto f = program_.cores[s.core]
                       .AttributesOf(i)[slot::Activate::kOp]
                       .as<ActFunction>();
    const uint8_t table =
        machine_.hardware->activation_table[static_cast<size_t>(f)];
    if (table != 0 && table != s.table) {
      s.table = table;
      cost.issue += time_.TableLoad();
      cost.completion += time_.TableLoad();
    }
  }
  if (i.opcode == Opcode::kLoadStationary) {
    s.stationary_onezero = program_.cores[s.core]
                               .AttributesOf(i)[slot::LoadStationary::kOnezero]
                               .boolean();
  }
  if (i.opcode == Opcode::kMultiplyMoving) {
    // fp32 with an operand of zeros and ones runs at twice the rate
    // (spec/isa.json, cost of nc_matmul).
    const auto a = program_.cores[s.core].AttributesOf(i);
    if (a[slot::MultiplyMoving::kPass].integer() != 0 &&
        (s.stationary_onezero || a[slot::MultiplyMoving::kOnezero].boolean())) {
      cost.issue /= 2;
      cost.completion -= (cost.completion - cost.completion_fixed) / 2;
    }
  }
  if (s.engine == Engine::kTensor && OnArray(i.opcode)) {
    // After idling for the window the array runs at the throttled rate until
    // it has been busy for the ramp.
    if (start - s.array_free > ToTicks(pe.throttle_window_ns) ||
        s.array_free == 0) {
      s.array_busy = 0;
    }
    if (pe.throttled_rate < 1 && s.array_busy < ToTicks(pe.throttle_ramp_ns)) {
      const double factor = 1 / pe.throttled_rate;
      cost.issue = static_cast<Ticks>(static_cast<double>(cost.issue) * factor);
      cost.completion =
          cost.completion_fixed +
          static_cast<Ticks>(
              static_cast<double>(cost.completion - cost.completion_fixed) *
              factor);
    }
    if (Loads(i.opcode)) {
      s.load_free = s.load_ready = start + cost.issue;
    } else {
      s.array_free = start + cost.issue;
      s.array_busy += cost.issue;
      // One load runs ahead of the multiplication, not two.
      s.load_free = std::max(s.load_free, start);
    }
    s.issue_ready = start;
  } else {
    s.issue_ready = start + cost.issue;
  }
  profile.busy += cost.issue;
  s.last_completion = std::max(s.last_completion, start + cost.completion);
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

Ticks& Runner::QueueFree(uint32_t queue_set, int queue) {
  return queue_free_[queue_set * kQueues + queue];
}

// DMA engines are servers, first come first served; the parts of one queue
// complete in order (spec/timing.md 2.2).
void Runner::ScheduleParts(Sequencer& s, int64_t index) {
  Transfer& t = transfers_[index];
  const DmaCost cost = time_.CostOfDma(t.dma, s.engine);
  const DmaRuns runs = RunsOfDma(t.dma);
  const auto set =
      static_cast<uint32_t>(program_.cores[s.core]
                                .AttributesOf(*s.next)[slot::DmaCopy::kQueueSet]
                                .integer());
  profile_.engines[static_cast<size_t>(s.engine)].waiting +=
      s.earliest - s.ready;
  profile_.engines[static_cast<size_t>(s.engine)].busy += cost.trigger;
  s.issue_ready = s.earliest + cost.trigger;
  s.last_completion = std::max(s.last_completion, s.issue_ready);
  const Ticks payload = std::max(s.earliest + cost.start, s.next_payload);
  s.next_payload = payload + cost.spacing;
  auto& engines = dma_engine_free_[s.core];
  EngineProfile& dma = profile_.engines[static_cast<size_t>(Engine::kDma)];
  for (size_t p = 0; p < t.parts.size(); ++p) {
    Ticks end = payload;
    DmaShape shape;
    PartTimes times = {payload, payload, payload, payload, payload};
    if (t.parts[p].count > 0 && !t.dma.nothing) {
      shape = ShapeOfDmaPart(runs, t.parts[p]);
      const Ticks busy = time_.BusyOfDmaPart(cost, shape);
      const Ticks start = std::max(payload, engines[p % engines.size()]);
      engines[p % engines.size()] = start + busy;
      dma.busy += busy;
      end = start + busy + cost.fixed;
      times = {payload, start, start + busy, end, end};
      profile_.dma_bytes += shape.bytes;
      for (const DmaOperand& src : t.dma.sources()) {
        if (src.tile.space != Space::kHbm) continue;
        profile_.hbm_read_bytes +=
            t.parts[p].count * static_cast<int64_t>(SizeOf(src.tile.dtype));
      }
      if (t.dma.dst.tile.space == Space::kHbm) {
        profile_.hbm_write_bytes +=
            t.parts[p].count *
            static_cast<int64_t>(SizeOf(t.dma.dst.tile.dtype));
      }
    }
    Ticks& free = QueueFree(set, static_cast<int>(p));
    end = std::max(end + cost.notify, free);
    free = end;
    times.notify = end;
    if (timeline_ != nullptr) RecordPart(t, p, shape, times);
    EndPartAt(end, index, static_cast<int32_t>(p));
  }
}

}  // namespace trnemu
