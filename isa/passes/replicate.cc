// Registers and loops: from one list of a core to what each engine executes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"
#include "isa/draft.h"
#include "isa/passes/registers.h"

namespace trnemu {

Instruction LoopMarker(bool begin, uint32_t loop) {
  Instruction marker;
  marker.opcode = Opcode::kBranch;
  marker.engine = Engine::kUnknown;
  marker.step = begin ? 0 : 1;
  marker.order = loop;
  return marker;
}

namespace {

uint16_t OperationIndex(Program& program, std::string_view name) {
  auto& names = program.operations;
  auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) it = names.insert(it, std::string(name));
  return static_cast<uint16_t>(it - names.begin());
}

Operand Register(uint32_t number) {
  Operand operand;
  operand.kind = Operand::Kind::kRegister;
  operand.immediate = number;
  return operand;
}

Operand Immediate(int64_t value) {
  Operand operand;
  operand.kind = Operand::Kind::kImmediate;
  operand.immediate = static_cast<double>(value);
  return operand;
}

class Replicator {
 public:
  Replicator(Draft& draft, size_t core)
      : draft_(draft),
        pools_(draft.program.cores[core]),
        list_(draft.instructions[core]),
        loops_(draft.loops[core]),
        core_(core) {}

  absl::Status Run() {
    FindNests();
    for (Engine engine : kSequencers) FindNeeds(engine);
    return Write();
  }

 private:
  struct Needs {
    std::set<uint32_t> registers, loops;
  };

  void FindNests();
  void FindNeeds(Engine engine);
  bool NeedInstruction(size_t i, Needs& needs) const;
  absl::Status Write();
  absl::Status WriteRegisterOp(const Instruction& instruction);
  void WriteControl(const Instruction& marker);
  void BeginLoop(const Loop& loop, uint32_t number, Engine engine);
  void EndLoop(const Loop& loop, uint32_t number, Engine engine);
  void Emit(Opcode opcode, std::string_view operation, Engine engine,
            uint32_t source, std::initializer_list<Operand> operands,
            std::initializer_list<Attribute> attributes);
  void Branch(RegisterOp op, const Operand& a, const Operand& b,
              uint32_t number, Engine engine, uint32_t source) {
    Emit(Opcode::kBranch, "branch", engine, source, {a, b},
         {Attribute::Integer(static_cast<int64_t>(op)), Attribute::Integer(0),
          Attribute::Integer(number)});
  }
  Needs& NeedsOf(Engine e) { return needs_[static_cast<size_t>(e)]; }

  Draft& draft_;
  CoreProgram& pools_;
  std::vector<Instruction>& list_;
  const std::vector<Loop>& loops_;
  const size_t core_;
  std::vector<int32_t> parent_;   // by loop, -1 for none
  std::vector<int32_t> loop_at_;  // by instruction
  std::array<Needs, kEngineNames.size()> needs_;
  std::vector<Instruction> result_;
};

void Replicator::FindNests() {
  parent_.assign(loops_.size(), -1);
  loop_at_.reserve(list_.size());
  int32_t open = -1;
  for (const Instruction& i : list_) {
    if (IsLoopBegin(i)) {
      parent_[LoopOf(i)] = open;
      open = static_cast<int32_t>(LoopOf(i));
    }
    loop_at_.push_back(open);
    if (IsLoopEnd(i)) open = parent_[open];
  }
}

// Adds what running instruction i takes. False if nothing was new.
bool Replicator::NeedInstruction(size_t i, Needs& needs) const {
  bool grew = false;
  for (int32_t loop = loop_at_[i]; loop >= 0; loop = parent_[loop]) {
    if (!needs.loops.insert(static_cast<uint32_t>(loop)).second) break;
    grew = true;
    const Loop& l = loops_[loop];
    if (l.kind == Loop::Kind::kConditional) {
      needs.registers.insert(l.condition);
      continue;
    }
    for (const Operand* bound : {&l.lo, &l.hi}) {
      if (bound->kind == Operand::Kind::kRegister) {
        needs.registers.insert(bound->reg());
      }
    }
  }
  if (IsMarker(list_[i])) return grew;
  ForEachRegisterRead(pools_, list_[i], [&](uint32_t number) {
    grew = needs.registers.insert(number).second || grew;
  });
  return grew;
}

void Replicator::FindNeeds(Engine engine) {
  Needs& needs = NeedsOf(engine);
  for (size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].engine == engine) NeedInstruction(i, needs);
  }
  for (bool grew = !needs.registers.empty(); grew;) {
    grew = false;
    for (size_t i = 0; i < list_.size(); ++i) {
      if (list_[i].engine != Engine::kUnknown || IsMarker(list_[i])) continue;
      if (!needs.registers.count(WrittenRegister(pools_, list_[i]))) continue;
      grew = NeedInstruction(i, needs) || grew;
    }
  }
}

absl::Status Replicator::Write() {
  result_.reserve(list_.size() * 2);
  // What nobody needs runs on the sync engine.
  for (size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].engine != Engine::kUnknown) continue;
    bool needed = false;
    for (Engine e : kSequencers) {
      needed = needed || (IsMarker(list_[i])
                              ? NeedsOf(e).loops.count(LoopOf(list_[i])) > 0
                              : NeedsOf(e).registers.count(
                                    WrittenRegister(pools_, list_[i])) > 0);
    }
    if (needed) continue;
    Needs& sync = NeedsOf(Engine::kSync);
    if (!IsMarker(list_[i])) {
      sync.registers.insert(WrittenRegister(pools_, list_[i]));
    }
    NeedInstruction(i, sync);
    FindNeeds(Engine::kSync);
  }
  for (const Instruction& instruction : list_) {
    if (IsMarker(instruction)) {
      WriteControl(instruction);
    } else if (instruction.engine != Engine::kUnknown) {
      result_.push_back(instruction);
    } else if (absl::Status s = WriteRegisterOp(instruction); !s.ok()) {
      return s;
    }
  }
  list_ = std::move(result_);
  return absl::OkStatus();
}

absl::Status Replicator::WriteRegisterOp(const Instruction& instruction) {
  const uint32_t number = WrittenRegister(pools_, instruction);
  int copies = 0;
  for (Engine e : kSequencers) {
    if (!NeedsOf(e).registers.count(number)) continue;
    ++copies;
    result_.push_back(instruction);
    result_.back().engine = e;
  }
  bool once = instruction.num_signals > 0;
  for (const Wait& wait : pools_.WaitsOf(instruction)) {
    once = once || wait.consume;
  }
  if (!once || copies <= 1) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kUnsupported;
  d.id = "unsupported.register_signal";
  d.operation = draft_.program.operations[instruction.operation];
  d.message = absl::StrCat(
      d.operation, " runs on each of the ", copies,
      " engines that need its register, so that it cannot signal or consume a "
      "semaphore");
  d.remedy = "signal from, or wait in, a nop or another instruction";
  d.source = draft_.program.DescribeSource(instruction.source);
  d.core = static_cast<int>(core_);
  return ToStatus(std::move(d));
}

void Replicator::WriteControl(const Instruction& marker) {
  const uint32_t number = LoopOf(marker);
  const Loop& loop = loops_[number];
  if (IsLoopBegin(marker)) result_.push_back(marker);
  for (Engine e : kSequencers) {
    if (!NeedsOf(e).loops.count(number)) continue;
    if (IsLoopBegin(marker)) {
      BeginLoop(loop, number, e);
    } else {
      EndLoop(loop, number, e);
    }
  }
  if (IsLoopEnd(marker)) result_.push_back(marker);
}

// The targets of branches are set by FinishDraft.
void Replicator::BeginLoop(const Loop& loop, uint32_t number, Engine engine) {
  if (loop.kind == Loop::Kind::kConditional) {
    Branch(RegisterOp::kEqual, Register(loop.condition), Immediate(0), number,
           engine, loop.source);
    return;
  }
  Emit(Opcode::kRegisterMove, "register_move", engine, loop.source,
       {Register(loop.induction), loop.lo}, {});
  Branch(RegisterOp::kGreaterEqual, Register(loop.induction), loop.hi, number,
         engine, loop.source);
}

void Replicator::EndLoop(const Loop& loop, uint32_t number, Engine engine) {
  if (loop.kind == Loop::Kind::kConditional) {
    Branch(RegisterOp::kNotEqual, Register(loop.condition), Immediate(0),
           number, engine, loop.source);
    return;
  }
  Emit(Opcode::kRegisterAlu, "register_alu", engine, loop.source,
       {Register(loop.induction), Register(loop.induction),
        Immediate(loop.step)},
       {Attribute::Integer(static_cast<int64_t>(RegisterOp::kAdd))});
  Branch(RegisterOp::kLess, Register(loop.induction), loop.hi, number, engine,
         loop.source);
}

void Replicator::Emit(Opcode opcode, std::string_view operation, Engine engine,
                      uint32_t source, std::initializer_list<Operand> operands,
                      std::initializer_list<Attribute> attributes) {
  Instruction i;
  i.opcode = opcode;
  i.engine = engine;
  i.operation = OperationIndex(draft_.program, operation);
  i.source = source;
  i.first_operand = static_cast<uint32_t>(pools_.operands.size());
  i.first_attribute = static_cast<uint32_t>(pools_.attributes.size());
  pools_.operands.insert(pools_.operands.end(), operands);
  pools_.attributes.insert(pools_.attributes.end(), attributes);
  result_.push_back(i);
}

}  // namespace

absl::Status Replicate(Draft& draft) {
  draft.loops.resize(draft.instructions.size());
  for (size_t core = 0; core < draft.instructions.size(); ++core) {
    const auto& list = draft.instructions[core];
    const bool any = std::any_of(
        list.begin(), list.end(),
        [](const Instruction& i) { return i.engine == Engine::kUnknown; });
    if (!any) continue;
    absl::Status status = Replicator(draft, core).Run();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace trnemu
