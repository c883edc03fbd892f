#include "isa/passes/lanes.h"

#include <map>
#include <utility>

namespace trnemu {
namespace {

uint32_t QueueSetOf(const CoreProgram& core, const Instruction& instruction) {
  return static_cast<uint32_t>(
      core.AttributesOf(instruction)[slot::DmaCopy::kQueueSet].integer());
}

}  // namespace

Lanes::Lanes(const Program& program, uint32_t core,
             std::span<const Instruction> instructions, const Level& level,
             size_t iterations) {
  for (uint32_t e = 0; e < kFirstDmaLane; ++e) {
    info.push_back({static_cast<Engine>(e), 0, 0});
  }
  std::map<std::pair<Engine, uint32_t>, uint32_t> dma_lanes;
  std::vector<uint32_t> issued(kFirstDmaLane);
  const size_t n = level.items.size();
  events.reserve(n * iterations);
  for (size_t i = 0; i < n * iterations; ++i) {
    const Instruction& instruction =
        instructions[level.items[i % n].instruction];
    uint32_t lane = static_cast<uint32_t>(instruction.engine);
    if (Info(instruction.opcode).dma) {
      const uint32_t set = QueueSetOf(program.cores[core], instruction);
      auto [it, added] = dma_lanes.try_emplace(
          {instruction.engine, set}, static_cast<uint32_t>(info.size()));
      lane = it->second;
      if (added) {
        const uint32_t queues = program.queue_sets[set].queues;
        info.push_back({instruction.engine, set, queues});
        issued.push_back(0);
      }
    }
    events.push_back({lane, ++issued[lane]});
  }
}

VectorClocks::VectorClocks(const Lanes& lanes)
    : snapshots_(lanes.info.size()), issued_(lanes.info.size()) {
  for (Clock& clock : clocks_) clock.resize(lanes.info.size());
  for (const LaneInfo& info : lanes.info) engine_of_.push_back(info.engine);
}

bool VectorClocks::KnewAt(Event issued, Event event) const {
  const Issued& at = At(issued);
  if (event.lane == static_cast<uint32_t>(engine_of_[issued.lane])) {
    return event.sequence <= at.engine_sequence;
  }
  return snapshots_[at.snapshot + event.lane] >= event.sequence;
}

bool VectorClocks::Implies(Event later, Event earlier) const {
  if (later.lane == earlier.lane) return later.sequence >= earlier.sequence;
  return KnewAt(later, earlier);
}

void VectorClocks::Wait(Engine engine, Event event) {
  const size_t self = static_cast<size_t>(engine);
  Clock& mine = clocks_[self];
  const Issued& at = At(event);
  for (size_t lane = 0; lane < mine.size(); ++lane) {
    mine[lane] = std::max(mine[lane], snapshots_[at.snapshot + lane]);
  }
  const size_t other = static_cast<size_t>(engine_of_[event.lane]);
  mine[other] = std::max(mine[other], at.engine_sequence);
  mine[event.lane] = std::max(mine[event.lane], event.sequence);
  changed_[self] = true;
}

void VectorClocks::Issue(Engine engine, Event event) {
  const size_t self = static_cast<size_t>(engine);
  Clock& mine = clocks_[self];
  if (changed_[self]) {
    current_[self] = snapshots_.size();
    snapshots_.insert(snapshots_.end(), mine.begin(), mine.end());
    changed_[self] = false;
  }
  if (event.lane == self) mine[self] = event.sequence;
  issued_[event.lane].push_back({current_[self], mine[self]});
}

}  // namespace trnemu
