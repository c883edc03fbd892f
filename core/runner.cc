#include "core/runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/text.h"

namespace trnemu {
namespace {

constexpr int kQueues = 16;
constexpr int64_t kInterruptInterval = 4096;

// A small generator of our own, so that a seed means the same everywhere
// (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t n) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % n;
  }

 private:
  uint64_t state_;
};

}  // namespace

Runner::Runner(const Program& program, Machine& machine,
               const std::vector<HbmBlock>& blocks, const TimeModel& time,
               const RunOptions& options, std::span<CoreState* const> states)
    : program_(program),
      machine_(machine),
      time_(time),
      options_(options),
      states_(states),
      placement_(program, machine, blocks, options.checks != Checks::kOff),
      semaphores_(program.semaphores.size()),
      dma_engine_free_(program.cores.size()),
      queue_free_(program.queue_sets.size() * kQueues, 0),
      pending_parts_(program.queue_sets.size() * kQueues),
      opcode_counts_(kNumOpcodes, 0),
      operation_counts_(program.operations.size(), 0) {
  for (size_t c = 0; c < program.cores.size(); ++c) {
    for (Engine engine : kSequencers) {
      const auto& stream = program.cores[c].stream(engine);
      Sequencer s;
      s.core = c;
      s.engine = engine;
      s.next = stream.data();
      s.end = stream.data() + stream.size();
      sequencers_.push_back(s);
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
      return;
    }
  }
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

absl::Status Runner::Run() {
  absl::Status status;
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
  return semaphores_.Satisfied(program_.cores[s.core].WaitsOf(*s.next));
}

absl::Status Runner::CheckBudgets() {
  if (options_.max_instructions &&
      profile_.instructions >= *options_.max_instructions) {
    return MakeFault(Category::kLimit, "limit.instructions",
                     absl::StrCat("the program wants to execute more than ",
                                  *options_.max_instructions,
                                  " instructions, the limit given"));
  }
  if (options_.max_time_ns &&
      static_cast<double>(now_) > *options_.max_time_ns * kTicksPerNs) {
    return MakeFault(
        Category::kLimit, "limit.simulated_time",
        absl::StrCat("the program runs longer than ", *options_.max_time_ns,
                     " ns of simulated time, the limit given"));
  }
  if (options_.interrupted && profile_.instructions % kInterruptInterval == 0 &&
      options_.interrupted()) {
    return MakeFault(Category::kLimit, "limit.interrupted",
                     "the run was interrupted");
  }
  return strict_;
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
    if (!events_.empty() &&
        (best == nullptr || events_.top().time <= best->earliest)) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      absl::Status status = event.transfer >= 0
                                ? FinishPart(event.transfer, event.part)
                                : Signal(*event.instruction, event.core, now_);
      if (!status.ok()) return status;
      continue;
    }
    if (best == nullptr) break;
    if (!WaitsHold(*best)) {  // another engine consumed what it waited for
      best->blocked = true;
      continue;
    }
    absl::Status status = Step(*best);
    if (!status.ok()) return status;
  }
  return Deadlock();
}

absl::Status Runner::RunProgramOrder() {
  for (;;) {
    Sequencer* best = nullptr;
    for (Sequencer& s : sequencers_) {
      if (s.done() || !WaitsHold(s)) continue;
      if (best == nullptr || s.next->order < best->next->order) best = &s;
    }
    if (best == nullptr) return Deadlock();
    Prepare(*best);
    absl::Status status = Step(*best);
    if (!status.ok()) return status;
  }
}

absl::Status Runner::RunRandom() {
  Random random(options_.schedule_seed);
  std::vector<Sequencer*> ready;
  std::vector<size_t> queues;
  for (;;) {
    ready.clear();
    queues.clear();
    for (Sequencer& s : sequencers_) {
      if (!s.done() && WaitsHold(s)) ready.push_back(&s);
    }
    for (size_t q = 0; pending_count_ > 0 && q < pending_parts_.size(); ++q) {
      if (!pending_parts_[q].empty()) queues.push_back(q);
    }
    const size_t choices = ready.size() + queues.size();
    if (choices == 0) return Deadlock();
    const size_t pick = random.Below(choices);
    absl::Status status;
    if (pick < ready.size()) {
      Prepare(*ready[pick]);
      status = Step(*ready[pick]);
    } else {
      auto& queue = pending_parts_[queues[pick - ready.size()]];
      const auto [transfer, part] = queue.front();
      queue.pop_front();
      --pending_count_;
      status = FinishPart(transfer, part);
    }
    if (!status.ok()) return status;
  }
}

void Runner::Prepare(Sequencer& s) {
  const Instruction& i = *s.next;
  const auto operands = program_.cores[s.core].OperandsOf(i);
  s.dynamic = false;
  for (size_t o = 0; o < operands.size(); ++o) {
    Slot& slot = s.slots[o];
    slot.kind = operands[o].kind;
    slot.indirection = nullptr;
    if (slot.kind == Operand::Kind::kAccess) {
      slot.indirection =
          program_.cores[s.core].IndirectionOf(operands[o].access);
      s.dynamic = s.dynamic || slot.indirection != nullptr;
      placement_.Resolve(s.core, operands[o].access, slot.tile);
    } else {
      slot.immediate = static_cast<float>(operands[o].immediate);
    }
  }
  s.prepared = true;
  if (options_.order != Order::kTimed) return;
  s.blocked = i.num_waits > 0 && !WaitsHold(s);
  PrepareTime(s);
}

ExecuteArgs Runner::ArgsOf(const Sequencer& s) const {
  const CoreProgram& core = program_.cores[s.core];
  const auto operands = core.OperandsOf(*s.next);
  return {{s.slots.data(), operands.size()},
          core.AttributesOf(*s.next),
          operands,
          s.engine};
}

absl::Status Runner::Step(Sequencer& s) {
  current_ = s.next;
  current_core_ = s.core;
  absl::Status status = CheckBudgets();
  if (!status.ok()) return Locate(status, s.core, *s.next);
  semaphores_.Consume(program_.cores[s.core].WaitsOf(*s.next));
  status = Info(s.next->opcode).dma ? StepDma(s) : StepCompute(s);
  if (!status.ok()) return Locate(status, s.core, *s.next);
  Retire(s);
  current_ = nullptr;
  return strict_;
}

absl::Status Runner::StepCompute(Sequencer& s) {
  const Instruction& i = *s.next;
  CoreState& state = *states_[s.core];
  if (options_.values) {
    absl::Status status = s.dynamic ? MoveSlots(s) : absl::OkStatus();
    if (status.ok()) status = ExecuteSlots(s, state);
    if (!status.ok()) return status;
  }
  const Ticks start = s.earliest;
  if (options_.order == Order::kTimed) AdvanceTime(s);
  if (options_.log) {
    const auto specs = Info(i.opcode).operands;
    const bool writes = !specs.empty() && specs[0].role != Role::kIn &&
                        s.slots[0].indirection == nullptr;
    Log(s.core, i, start, s.last_completion,
        writes ? &s.slots[0].tile : nullptr);
  }
  if (i.num_signals == 0) return absl::OkStatus();
  if (options_.order != Order::kTimed) return Signal(i, s.core, 0);
  events_.push({s.last_completion, next_sequence_++, &i, s.core, -1, 0});
  return absl::OkStatus();
}

absl::Status Runner::Signal(const Instruction& i, size_t core, Ticks now) {
  const int64_t limit = machine_.hardware->sequencer.semaphore_max;
  for (const trnemu::Signal& signal : program_.cores[core].SignalsOf(i)) {
    const int64_t value = semaphores_.Apply(signal);
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
    const auto waits = program_.cores[s.core].WaitsOf(*s.next);
    const bool waits_for_it = std::any_of(
        waits.begin(), waits.end(),
        [semaphore](const Wait& w) { return w.semaphore == semaphore; });
    if (!waits_for_it || !WaitsHold(s)) continue;
    s.blocked = false;
    s.earliest = std::max(s.ready, now + time_.hand_off());
  }
}

void Runner::Retire(Sequencer& s) {
  ++profile_.instructions;
  ++profile_.engines[static_cast<size_t>(s.engine)].instructions;
  ++opcode_counts_[static_cast<size_t>(s.next->opcode)];
  if (s.next->step == 0) ++operation_counts_[s.next->operation];
  ++s.next;
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
