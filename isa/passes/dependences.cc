#include "isa/passes/dependences.h"

#include <utility>

#include "isa/passes/footprint.h"
#include "isa/passes/region_map.h"

namespace trnemu {
namespace {

// The scales of the MX tile in the operand before: the first four of every 32
// rows of their view. Others may pack theirs between
// (nki/deep-dives/mxfp-matmul.rst:228).
bool HoldsMxScales(Opcode opcode, size_t operand) {
  switch (opcode) {
    case Opcode::kLoadStationaryMx:
      return operand == slot::LoadStationaryMx::kStationaryScale;
    case Opcode::kMultiplyMovingMx:
      return operand == slot::MultiplyMovingMx::kMovingScale;
    case Opcode::kQuantizeMx:
      return operand == slot::QuantizeMx::kDstScale;
    default:
      return false;
  }
}

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
      ForEachAccess(instruction, [this](const Access& access, Role role) {
        if (role != Role::kIn) written_[access.tensor] = true;
      });
    }
  }

  // Enters the operands of `instruction`. Writes come first: they have to meet
  // the earlier reads of their lane, which the instruction's own reads replace.
  void Add(const Instruction& instruction, Event event, Needs& needs) {
    ForEachAccess(instruction, [&](const Access& access, Role role) {
      if (role != Role::kIn) Add(access, event, true, needs);
    });
    ForEachAccess(instruction, [&](const Access& access, Role role) {
      if (role == Role::kIn) Add(access, event, false, needs);
    });
  }

 private:
  template <typename Visit>
  void ForEachAccess(const Instruction& instruction, Visit visit) const {
    const auto specs = Info(instruction.opcode).operands;
    const auto operands = core_.OperandsOf(instruction);
    for (size_t i = 0; i < specs.size(); ++i) {
      if (operands[i].kind != Operand::Kind::kAccess) continue;
      const Access& access = operands[i].access;
      if (!HoldsMxScales(instruction.opcode, i)) {
        visit(access, specs[i].role);
        continue;
      }
      Access rows = access;
      rows.partitions = std::min<uint16_t>(4, access.partitions);
      for (int q = 0; q < operands[i - 1].access.partitions / 32; ++q) {
        visit(rows, specs[i].role);
        rows.start_partition = static_cast<uint16_t>(rows.start_partition + 32);
      }
    }
  }

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
  std::vector<Event> unknown;
  result.first_wait.reserve(instructions.size() + 1);
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Engine engine = instructions[i].engine;
    const Event event = result.lanes.events[i];
    memory.Add(instructions[i], event, needs);
    unknown.clear();
    needs.Drain([&](Event other) {
      if (other == event || InOrder(result.lanes, event, other)) return;
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
