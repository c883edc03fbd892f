#include "core/runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/engines/rows.h"
#include "core/profile/facts.h"
#include "core/profile/timeline.h"
#include "core/shadow.h"
#include "isa/text.h"

namespace trnemu {
namespace {

}  // namespace

Runner::Runner(const Program& program, Machine& machine,
               const std::vector<HbmBlock>& blocks,
               const std::vector<StreamFacts>& streams, const TimeModel& time,
               const RunOptions& options, std::span<CoreState* const> states)
    : program_(program),
      machine_(machine),
      time_(time),
      options_(options),
      timeline_(options.timeline),
      states_(states),
      placement_(program, machine, blocks, options.checks != Checks::kOff),
      semaphores_(program.semaphores.size()),
      semaphore_use_(program),
      exchanges_(program),
      cc_free_(2 * program.cores.size(), 0),
      dma_engines_(program.cores.size(),
                   DmaEngines(static_cast<size_t>(
                       machine.hardware->dma.engines))),
      generators_(program.cores.size(),
                  std::vector<Ticks>(static_cast<size_t>(
                      machine.hardware->dma.hwdge_units))),
      hbm_(machine.hardware->memory, program.cores.size()),
      queue_free_(program.queue_sets.size() * kDmaQueues, 0),
      pending_parts_(options.order == Order::kRandom
                         ? program.queue_sets.size() * kDmaQueues
                         : 0),
      staged_parts_(pending_parts_.size()),
      random_(options.schedule_seed),
      opcode_counts_(kNumOpcodes, 0),
      operation_counts_(program.operations.size(), 0) {
  if (timeline_ != nullptr) timeline_->Begin(program);
  if (options.checks == Checks::kFull && options.values) {
    races_ =
        std::make_unique<RaceDetector>(program, placement_, options_.allow);
  }
  for (size_t c = 0; c < program.cores.size(); ++c) {
    for (Engine engine : kSequencers) {
      const StreamFacts& facts = streams[sequencers_.size()];
      const auto& stream = program.cores[c].stream(engine);
      Sequencer s;
      s.core = c;
      s.program = &program.cores[c];
      s.engine = engine;
      s.begin = s.next = stream.data();
      s.end = stream.data() + stream.size();
      s.ran.resize(stream.size());
      s.registers.Resize(facts.registers);
      if (!facts.loops.empty()) {
        has_loops_ = true;
        s.loops = &facts.loops;
        s.position.Move(*s.loops, 0, 0);
        s.costs.resize(stream.size());
      }
      sequencers_.push_back(std::move(s));
    }
  }
}

void Runner::Warn(Diagnostic d) {
  // An error here is one that --allow lets pass.
  if (current_ != nullptr) {
    d = DiagnosticOf(Locate(ToStatus(std::move(d)), current_core_, *current_));
  }
  for (Diagnostic& other : findings_) {
    if (other.id == d.id && other.source == d.source &&
        other.opcode == d.opcode &&
        (!d.source.empty() || other.message == d.message)) {
      ++other.count;
      if (current_ != nullptr) {
        found_of_[current_] = static_cast<size_t>(&other - findings_.data());
      }
      return;
    }
  }
  if (current_ != nullptr) found_of_[current_] = findings_.size();
  const bool allowed = std::find(options_.allow.begin(), options_.allow.end(),
                                 d.id) != options_.allow.end();
  if (options_.strict && d.severity == Severity::kWarning && !allowed &&
      strict_.ok()) {
    Diagnostic error = d;
    error.severity = Severity::kError;
    strict_ = ToStatus(std::move(error));
  }
  findings_.push_back(std::move(d));
}

bool Runner::CountAgain(std::string_view id) {
  const auto found = found_of_.find(current_);
  if (found == found_of_.end() || findings_[found->second].id != id) {
    return false;
  }
  ++findings_[found->second].count;
  return true;
}

absl::Status Runner::Run() {
  absl::Status status;
  if (!paused_) {
    started_ = std::chrono::steady_clock::now();
    SetInstructionLimit();
    StartTime();
  }
  paused_ = false;
  switch (options_.order) {
    case Order::kTimed:
      status = RunTimed();
      break;
    case Order::kProgram:
      status = RunProgramOrder();
      break;
    case Order::kRandom:
      status = RunRandom();
      break;
  }
  if (paused_) return status;
  if (status.ok()) status = CheckTime();
  if (options_.order == Order::kTimed) EndTime();
  status = Conclude(std::move(status));
  for (int i = 0; i < kNumOpcodes; ++i) {
    if (opcode_counts_[i] == 0) continue;
    profile_.opcodes[std::string(Info(static_cast<Opcode>(i)).name)] =
        opcode_counts_[i];
  }
  for (size_t i = 0; i < operation_counts_.size(); ++i) {
    if (operation_counts_[i] == 0) continue;
    profile_.operations[program_.operations[i]] += operation_counts_[i];
  }
  return status;
}

bool Runner::WaitsHold(const Sequencer& s) const {
  for (const Wait& w : s.program->WaitsOf(*s.next)) {
    if (w.is_register && !s.registers.known(static_cast<uint32_t>(w.value))) {
      continue;  // TakeWaits reports it
    }
    if (semaphores_.value(w.semaphore) < CountOf(s, w.value, w.is_register)) {
      return false;
    }
  }
  return true;
}

absl::Status Runner::RunTimed() {
  for (;;) {
    Sequencer* best = nullptr;
    for (Sequencer& s : sequencers_) {
      if (s.done()) continue;
      if (!s.prepared) Prepare(s);
      if (s.blocked) continue;
      if (best == nullptr || s.earliest < best->earliest) best = &s;
    }
    const bool event_first =
        !events_.empty() &&
        (best == nullptr || events_.top().time <= best->earliest);
    if (transport_ != nullptr) {
      const Ticks next = event_first       ? events_.top().time
                         : best != nullptr ? best->earliest
                                           : kNever;
      if (next >= horizon_) {
        paused_ = true;
        return absl::OkStatus();
      }
    }
    if (event_first) {
      const Event event = events_.top();
      events_.pop();
      if (PutOff(event)) continue;
      now_ = event.time;
      absl::Status status = Take(event);
      if (!status.ok() || paused_) return status;
      continue;
    }
    if (best == nullptr) break;
    if (!WaitsHold(*best)) {  // another engine consumed what it waited for
      best->blocked = true;
      continue;
    }
    if (WaitsForPorts(*best)) continue;
    absl::Status status = Step(*best);
    if (!status.ok() || paused_) return status;
  }
  return Deadlock();
}

absl::Status Runner::Take(const Event& event) {
  if (event.ticket >= 0) return FinishCollective(event.ticket);
  if (event.move >= 0) {
    const MoveWork work = moves_[static_cast<size_t>(event.move)];
    free_moves_.push_back(event.move);
    ScheduleMove(work);
    return absl::OkStatus();
  }
  return event.transfer >= 0
             ? FinishParts(event)
             : Signal(*event.instruction, event.core, now_, event.resolved);
}

absl::Status Runner::RunProgramOrder() {
  for (;;) {
    Sequencer* best = nullptr;
    for (Sequencer& s : sequencers_) {
      if (s.done() || !WaitsHold(s)) continue;
      if (best == nullptr || ComesBefore(s, *best)) best = &s;
    }
    if (best == nullptr) return Deadlock();
    Prepare(*best);
    absl::Status status = Step(*best);
    if (!status.ok() || paused_) return status;
  }
}

bool Runner::ComesBefore(const Sequencer& a, const Sequencer& b) const {
  if (!has_loops_ || a.core != b.core) {
    return a.next->order < b.next->order;
  }
  return a.position.Before(a.next->order, b.position, b.next->order);
}

void Runner::Prepare(Sequencer& s) {
  const Instruction& i = *s.next;
  const auto operands = s.program->OperandsOf(i);
  if (options_.order == Order::kTimed) Prefetch(s);
  s.dynamic = false;
  for (size_t o = 0; o < operands.size(); ++o) {
    Slot& slot = s.slots[o];
    slot.kind = operands[o].kind;
    slot.indirection = nullptr;
    if (slot.kind == Operand::Kind::kAccess) {
      slot.indirection = s.program->IndirectionOf(operands[o].access);
      s.dynamic = s.dynamic || slot.indirection != nullptr;
      placement_.Resolve(s.core, operands[o].access, slot.tile);
    } else {
      const bool number = slot.kind == Operand::Kind::kImmediate;
      slot.immediate =
          number ? static_cast<float>(operands[o].immediate) : 0.0f;
    }
  }
  s.prepared = true;
  if (options_.order != Order::kTimed) return;
  s.blocked = i.num_waits > 0 && !WaitsHold(s);
  PrepareTime(s);
}

void Runner::Prefetch(const Sequencer& s) const {
  const Instruction* const next = s.next + 1;
  if (next >= s.end) return;
  const CoreProgram& core = *s.program;
  const auto ahead = [](const void* begin, const void* end) {
    constexpr uintptr_t kLine = 64;
    uintptr_t at = reinterpret_cast<uintptr_t>(begin) / kLine * kLine;
    for (; at < reinterpret_cast<uintptr_t>(end); at += kLine) {
      __builtin_prefetch(reinterpret_cast<const void*>(at));
    }
  };
  const auto operands = core.OperandsOf(*next);
  for (const Operand& operand : operands) {
    ahead(&operand, &operand.access.dims[2]);
  }
  if (next->num_waits > 0) __builtin_prefetch(core.WaitsOf(*next).data());
  if (next->num_signals > 0) __builtin_prefetch(core.SignalsOf(*next).data());
  __builtin_prefetch(core.AttributesOf(*next).data());
}

ExecuteArgs Runner::ArgsOf(const Sequencer& s) const {
  const CoreProgram& core = *s.program;
  const auto operands = core.OperandsOf(*s.next);
  return {{s.slots.data(), operands.size()},
          core.AttributesOf(*s.next),
          operands,
          s.engine};
}

absl::Status Runner::Step(Sequencer& s) {
  if (PausesBefore(s)) return absl::OkStatus();
  chosen_ = nullptr;
  current_ = s.next;
  current_core_ = s.core;
  absl::Status status = CheckBudgets();
  if (!status.ok()) return Locate(status, s.core, *s.next);
  if (races_ != nullptr) TraceStep(s);
  status = TakeWaits(s);
  if (!status.ok()) return Locate(status, s.core, *s.next);
  const Ticks busy = profile_.engines[static_cast<size_t>(s.engine)].busy;
  status = ExecuteStep(s);
  if (status.ok() && timeline_ != nullptr) status = RecordStep(s, busy);
  if (!status.ok()) return status;
  Retire(s);
  current_ = nullptr;
  MayPause();
  return strict_;
}

absl::Status Runner::ExecuteStep(Sequencer& s) {
  const size_t values = trace_.values.size();
  for (;;) {
    jump_ = nullptr;
    absl::Status status =
        Info(s.next->opcode).dma ? StepDma(s) : StepCompute(s);
    if (status.ok()) return status;
    status = Locate(status, s.core, *s.next);
    if (!Hold(status)) return status;
    trace_.values.resize(values);
  }
}

absl::Status Runner::StepCompute(Sequencer& s) {
  const Instruction& i = *s.next;
  CoreState& state = *states_[s.core];
  if (OnRegisters(i.opcode)) {
    absl::Status status = s.dynamic ? MoveSlots(s) : absl::OkStatus();
    if (status.ok()) status = BeforeExecution(s);
    if (status.ok()) status = StepRegisters(s);
    if (!status.ok()) return status;
  } else {
    absl::Status status = s.dynamic ? MoveSlots(s) : absl::OkStatus();
    if (status.ok() && options_.values) status = ExecuteSlots(s, state);
    if (!status.ok()) return status;
  }
  absl::Status seen = AfterExecution(s);
  if (!seen.ok()) return seen;
  const Ticks start = s.earliest;
  if (options_.order == Order::kTimed) AdvanceTime(s);
  if (options_.log) Log(s.core, i, start, s.last_completion, DigestOf(s));
  if (i.num_signals == 0) return absl::OkStatus();
  const int32_t resolved = ResolveSignals(s);
  if (options_.order != Order::kTimed) return Signal(i, s.core, 0, resolved);
  events_.push(
      {s.last_completion, next_sequence_++, &i, s.core, -1, 0, resolved});
  return absl::OkStatus();
}

absl::Status Runner::StepRegisters(Sequencer& s) {
  const Instruction& i = *s.next;
  const CoreProgram& core = program_.cores[s.core];
  const auto operands = core.OperandsOf(i);
  auto value = [&](size_t slot) {
    const Operand& operand = operands[slot];
    return operand.kind == Operand::Kind::kRegister
               ? s.registers.value(operand.reg())
               : static_cast<int32_t>(static_cast<int64_t>(operand.immediate));
  };
  if (i.opcode == Opcode::kRankId || i.opcode == Opcode::kProcessingRank) {
    return RankRegister(s);
  }
  auto op = [&](size_t attribute) {
    return core.AttributesOf(i)[attribute].as<RegisterOp>();
  };
  CoreState& state = *states_[s.core];
  switch (i.opcode) {
    case Opcode::kRegisterMove:
      s.registers.Set(operands[slot::RegisterMove::kDst].reg(),
                      value(slot::RegisterMove::kSrc));
      break;
    case Opcode::kRegisterAlu:
      s.registers.Set(
          operands[slot::RegisterAlu::kDst].reg(),
          Compute(op(slot::RegisterAlu::kOp), value(slot::RegisterAlu::kA),
                  value(slot::RegisterAlu::kB)));
      break;
    case Opcode::kRegisterLoad: {
      if (!options_.values) {
        return MakeFault(Category::kUnsupported, "unsupported.values_off",
                         "a register is loaded from memory, whose values are "
                         "not computed with values off");
      }
      const Tile& src = s.slots[slot::RegisterLoad::kSrc].tile;
      if (state.check_memory) {
        absl::Status status = AdmitUnwritten(state, src, "src");
        if (!status.ok()) return status;
      }
      s.registers.Set(operands[slot::RegisterLoad::kDst].reg(),
                      LoadRegister(src));
      break;
    }
    case Opcode::kRegisterStore: {
      const Tile& dst = s.slots[slot::RegisterStore::kDst].tile;
      if (!options_.values) break;
      StoreRegister(value(slot::RegisterStore::kSrc), dst);
      if (state.check_memory) MarkWritten(dst);
      MarkPsum(dst, PsumWriter::kOther);
      break;
    }
    default:
      if (Compute(op(slot::Branch::kOp), value(slot::Branch::kA),
                  value(slot::Branch::kB)) != 0) {
        jump_ = s.begin + core.AttributesOf(i)[slot::Branch::kTarget].integer();
      }
  }
  return absl::OkStatus();
}

// Takes what the waits consume, having seen that every register has a value.
absl::Status Runner::TakeWaits(Sequencer& s) {
  const CoreProgram& core = program_.cores[s.core];
  const auto waits = core.WaitsOf(*s.next);
  if (waits.empty() && s.registers.empty()) return absl::OkStatus();
  // A stream without registers names none.
  if (!s.registers.complete()) {
    absl::Status status = CheckRegisters(s.registers, core, *s.next);
    if (!status.ok()) return status;
  }
  const int64_t limit = machine_.hardware->sequencer.semaphore_max;
  for (size_t k = 0; k < waits.size(); ++k) {
    const Wait& w = waits[k];
    const int64_t value = CountOf(s, w.value, w.is_register);
    if (value < 0 || value > limit) {
      return MakeFault(
          Category::kIllegal, "semaphore.range",
          absl::StrCat("a wait for semaphore ",
                       program_.semaphores[w.semaphore].name, " >= ", value,
                       "; its range is 0 to ", limit));
    }
    if (w.is_register && races_ != nullptr) trace_.values.push_back(value);
    if (timeline_ != nullptr) timeline_->Needs(w.semaphore, value);
    if (!w.consume) continue;
    semaphores_.Take(w.semaphore, value);
    if (timeline_ != nullptr) {
      timeline_->Takes(w.semaphore, semaphores_.value(w.semaphore), s.earliest);
    }
    semaphore_use_.Taken(s.core, *s.next, k);
  }
  return absl::OkStatus();
}

int32_t Runner::ResolveSignals(const Sequencer& s) {
  if (s.registers.empty()) return -1;
  const auto signals = program_.cores[s.core].SignalsOf(*s.next);
  const bool any =
      std::any_of(signals.begin(), signals.end(),
                  [](const trnemu::Signal& g) { return g.is_register; });
  if (!any) return -1;
  if (free_signals_.empty()) {
    free_signals_.push_back(static_cast<int32_t>(resolved_signals_.size()));
    resolved_signals_.emplace_back();
  }
  const int32_t index = free_signals_.back();
  free_signals_.pop_back();
  auto& resolved = resolved_signals_[static_cast<size_t>(index)];
  resolved.assign(signals.begin(), signals.end());
  for (trnemu::Signal& g : resolved) {
    if (!g.is_register) continue;
    g.value = CountOf(s, g.value, true);
    g.is_register = false;
    if (races_ != nullptr) trace_.values.push_back(g.value);
  }
  return index;
}

void Runner::FreeSignals(int32_t resolved) {
  if (resolved >= 0) free_signals_.push_back(resolved);
}

absl::Status Runner::Signal(const Instruction& i, size_t core, Ticks now,
                            int32_t resolved) {
  if (timeline_ != nullptr && !Info(i.opcode).dma) {
    timeline_->FromInstruction(core, i.engine);
  }
  absl::Status status = SignalAll(SignalAt::kRead, i, core, now, resolved);
  if (status.ok()) {
    status = SignalAll(SignalAt::kComplete, i, core, now, resolved);
  }
  if (status.ok() && !Info(i.opcode).dma) FreeSignals(resolved);
  return status;
}

absl::Status Runner::SignalAll(SignalAt at, const Instruction& i, size_t core,
                               Ticks now, int32_t resolved) {
  const int64_t limit = machine_.hardware->sequencer.semaphore_max;
  const std::span<const trnemu::Signal> signals =
      resolved >= 0 ? std::span<const trnemu::Signal>(
                          resolved_signals_[static_cast<size_t>(resolved)])
                    : program_.cores[core].SignalsOf(i);
  for (size_t k = 0; k < signals.size(); ++k) {
    const trnemu::Signal& signal = signals[k];
    if (signal.at != at) continue;
    const int64_t value = semaphores_.Apply(signal);
    semaphore_use_.Signalled(core, i, k);
    if (timeline_ != nullptr) timeline_->Update(signal, value, now);
    if (value < 0 || value > limit) {
      Diagnostic d;
      d.category = Category::kIllegal;
      d.id = "semaphore.range";
      d.message =
          absl::StrCat("semaphore ", program_.semaphores[signal.semaphore].name,
                       " would become ", value, "; its range is 0 to ", limit);
      return Locate(ToStatus(std::move(d)), core, i);
    }
    Wake(signal.semaphore, now);
  }
  return absl::OkStatus();
}

void Runner::Wake(uint32_t semaphore, Ticks now) {
  if (options_.order != Order::kTimed) return;
  for (Sequencer& s : sequencers_) {
    if (!s.blocked || s.done()) continue;
    const auto waits = s.program->WaitsOf(*s.next);
    const bool waits_for_it = std::any_of(
        waits.begin(), waits.end(),
        [semaphore](const Wait& w) { return w.semaphore == semaphore; });
    if (!waits_for_it || !WaitsHold(s)) continue;
    s.blocked = false;
    if (timeline_ != nullptr) timeline_->Woke(s.core, s.engine);
    s.earliest = std::max(s.ready, now + time_.hand_off());
  }
}

void Runner::Retire(Sequencer& s) {
  ++profile_.instructions;
  ++profile_.engines[static_cast<size_t>(s.engine)].instructions;
  ++opcode_counts_[static_cast<size_t>(s.next->opcode)];
  if (s.next->step == 0) ++operation_counts_[s.next->operation];
  if (s.engine == Engine::kTensor) {
    profile_.matmul_flops +=
        static_cast<int64_t>(FlopsOf(*s.program, *s.next));
  }
  const Instruction* const from = s.next;
  s.ran[static_cast<size_t>(from - s.begin)] =
      static_cast<uint64_t>(profile_.instructions);
  s.next = jump_ != nullptr ? jump_ : s.next + 1;
  if (s.loops != nullptr && !s.done()) {
    s.position.Move(*s.loops, static_cast<size_t>(from - s.begin),
                    static_cast<size_t>(s.next - s.begin));
  }
  s.prepared = false;
}

absl::Status Runner::Locate(const absl::Status& status, size_t core,
                            const Instruction& i) {
  Diagnostic d = DiagnosticOf(status);
  if (!d.instruction) d.instruction = i.order;
  if (d.opcode.empty()) d.opcode = Info(i.opcode).name;
  if (d.operation.empty()) d.operation = program_.operations[i.operation];
  if (d.engine.empty()) d.engine = Name(i.engine);
  if (!d.core) d.core = static_cast<int>(core);
  if (d.source.empty()) d.source = program_.DescribeSource(i.source);
  DescribeOperand(d, core, i);
  return ToStatus(std::move(d));
}

}  // namespace trnemu
