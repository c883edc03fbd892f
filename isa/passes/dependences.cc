#include "isa/passes/dependences.h"

#include <utility>

#include "isa/passes/footprint.h"
#include "isa/passes/region_map.h"

namespace trnemu {
namespace {

// The accesses so far to all memories of a core.
class Memory {
 public:
  Memory(const Program& program, uint32_t core,
         std::span<const Instruction> instructions)
      : program_(program),
        core_(program.cores[core]),
        written_(program.tensors.size()),
        hbm_(program.tensors.size()) {
    for (const Instruction& instruction : instructions) {
      core_.ForEachAccess(instruction,
                          [this](const Access& access, Role role, bool) {
                            if (role != Role::kIn) {
                              written_[access.tensor] = true;
                            }
                          });
    }
  }

  // Enters the operands of `instruction`. Writes come first: they have to meet
  // the earlier reads of their lane, which the instruction's own reads replace.
  // What index tiles need goes into `at_start`.
  void Add(const Instruction& instruction, Event event, Needs& needs,
           Needs& at_start) {
    core_.ForEachAccess(instruction, [&](const Access& a, Role role, bool) {
      if (role != Role::kIn) Add(a, event, true, needs);
    });
    core_.ForEachAccess(instruction,
                        [&](const Access& a, Role role, bool is_index) {
                          if (role != Role::kIn) return;
                          Add(a, event, false, is_index ? at_start : needs);
                        });
  }

 private:
  void Add(const Access& access, Event event, bool write, Needs& needs) {
    if (!access.on_chip() && !written_[access.tensor]) return;
    RegionMap& region = access.space == Space::kSbuf   ? sbuf_
                        : access.space == Space::kPsum ? psum_
                                                       : hbm_[access.tensor];
    const Footprint footprint =
        FootprintOf(access, program_.tensors[access.tensor]);
    region.Add(event, footprint, write, needs);
  }

  const Program& program_;
  const CoreProgram& core_;
  std::vector<bool> written_;  // by tensor
  RegionMap sbuf_;
  RegionMap psum_;
  std::vector<RegionMap> hbm_;  // by tensor
};

// The order of the machine, without waits or knowledge, puts the instruction
// of `mine` after `other`: instructions of one engine, and DMAs that are a
// single part on one queue.
bool InOrder(const Lanes& lanes, Event mine, Event other) {
  const LaneInfo& info = lanes.info[mine.lane];
  if (other.lane == static_cast<uint32_t>(info.engine)) return true;
  return other.lane == mine.lane && info.queues == 1;
}

// Removes what another of `events` implies.
void Reduce(const VectorClocks& clocks, std::vector<Event>& events) {
  for (size_t i = 0; i < events.size();) {
    bool implied = false;
    for (size_t j = 0; j < events.size() && !implied; ++j) {
      implied = j != i && clocks.Implies(events[j], events[i]);
    }
    if (implied) {
      events.erase(events.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace

Dependences FindDependences(const Program& program, uint32_t core,
                            std::span<const Instruction> instructions) {
  Dependences result(Lanes(program, core, instructions));
  Memory memory(program, core, instructions);
  Needs needs(result.lanes.info.size());
  Needs at_start(result.lanes.info.size());
  std::vector<Event> unknown;
  result.first_wait.reserve(instructions.size() + 1);
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Engine engine = instructions[i].engine;
    const Event event = result.lanes.events[i];
    memory.Add(instructions[i], event, needs, at_start);
    unknown.clear();
    needs.Drain([&](Event other) {
      if (other == event || InOrder(result.lanes, event, other)) return;
      if (!result.clocks.Knows(engine, other)) unknown.push_back(other);
    });
    // A DMA reads its indices when it is triggered, not in its queue's turn.
    at_start.Drain([&](Event other) {
      if (other == event || other.lane == static_cast<uint32_t>(engine)) return;
      if (!result.clocks.Knows(engine, other)) unknown.push_back(other);
    });
    Reduce(result.clocks, unknown);
    result.first_wait.push_back(result.waits.size());
    for (Event other : unknown) {
      result.clocks.Wait(engine, other);
      result.waits.push_back(other);
    }
    result.clocks.Issue(engine, event);
  }
  result.first_wait.push_back(result.waits.size());
  return result;
}

}  // namespace trnemu
