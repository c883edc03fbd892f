#include "core/races/detector.h"

#include <algorithm>
#include <utility>

#include "core/collective_touch.h"
#include "core/dynamic.h"
#include "isa/passes/accesses.h"

namespace trnemu {
namespace {

constexpr uint32_t kLeastInterval = 1024;  // steps
constexpr int kMaxPasses = 8;
// Events that are looked at more than once, if need be.
constexpr size_t kMaxRepeated = size_t{1} << 20;
// Places in loops that are remembered, for reports.
constexpr uint32_t kPositions = 1024;

// Operands of which data or a mask say which bytes are touched (docs/memory.md
// has the list); the footprint is all that may be.
bool TouchesPart(Opcode opcode, size_t operand) {
  switch (opcode) {
    case Opcode::kStreamShuffle:
    case Opcode::kLocalGather:
    case Opcode::kNGather:
    case Opcode::kTopK:
    case Opcode::kNonzeroWithCount:
      return true;
    case Opcode::kCollectiveV:  // counts are data
      return operand != slot::CollectiveV::kMetadata;
    case Opcode::kTensorCopyPredicated:
      return operand == slot::TensorCopyPredicated::kDst;
    default:
      return false;
  }
}

// Whether it is one end of a transfer that begins when both cores have come.
bool OfBothCores(const CoreProgram& core, const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kSendRecv:
      return true;
    case Opcode::kCollective:
      return core.AttributesOf(i)[slot::Collective::kBothCores].boolean();
    case Opcode::kCollectiveV:
      return core.AttributesOf(i)[slot::CollectiveV::kBothCores].boolean();
    default:
      return false;
  }
}

}  // namespace

RaceDetector::RaceDetector(const Program& program, const Placement& placement,
                           std::span<const std::string> allow)
    : program_(program),
      placement_(placement),
      allow_(allow),
      lanes_(program),
      written_(program.tensors.size()),
      rows_(program.tensors.size()),
      order_(program, lanes_) {
  for (const CoreProgram& core : program.cores) {
    const auto places = FindLoopPlaces(core);
    for (Engine engine : kSequencers) {
      loops_.emplace_back(core, core.stream(engine), places);
      for (const Instruction& i : core.stream(engine)) {
        ForEachAccess(core, i, [&](const Access& access, Role role, bool) {
          if (role != Role::kIn) written_[access.tensor] = true;
          if (access.on_chip()) return;
          rows_[access.tensor].Add(
              FootprintOf(access, program.tensors[access.tensor]));
        });
      }
    }
  }
  Reset();
}

void RaceDetector::Reset() {
  sequencers_.clear();
  for (size_t c = 0; c < program_.cores.size(); ++c) {
    for (Engine engine : kSequencers) {
      Sequencer s;
      s.core = static_cast<uint32_t>(c);
      s.stream = &program_.cores[c].stream(engine);
      const StreamLoops& loops = loops_[sequencers_.size()];
      if (!loops.empty()) {
        s.loops = &loops;
        s.position.Move(loops, 0, 0);
        s.recent.assign(kPositions, s.position);
      }
      sequencers_.push_back(s);
    }
  }
  clocks_.assign(size_t{lanes_.sequencers()} * lanes_.size(), 0);
  assumed_.assign(clocks_.size(), 0);
  least_.assign(lanes_.size(), 0);
  issued_.assign(program_.queue_sets.size(), 0);
  on_chip_.clear();
  on_chip_.resize(2 * program_.cores.size());
  hbm_.clear();
  hbm_.resize(program_.tensors.size());
  ends_.clear();
  steps_ = 0;
  step_ = 0;
  value_at_ = 0;
  found_.clear();
  findings_.clear();
  found_of_id_.clear();
  consequences_.clear();
}

bool RaceDetector::Consume(Trace& trace, bool last,
                           const std::function<bool()>& stop) {
  if (!Pass(trace, last, stop)) return false;
  const bool whole = first_ && last && trace.events.size() <= kMaxRepeated;
  // Signals that came too late to be seen by a wait that they might have
  // satisfied: once more, knowing them.
  for (int pass = 1; whole && !order_.settled() && pass < kMaxPasses; ++pass) {
    order_.Restart();
    Reset();
    if (!Pass(trace, last, stop)) return false;
  }
  if (last) SortFindings();
  first_ = false;
  value_at_ = 0;
  trace.events.clear();
  trace.values.clear();
  return true;
}

bool RaceDetector::Pass(const Trace& trace, bool last,
                        const std::function<bool()>& stop) {
  for (const TraceEvent& event : trace.events) {
    if (event.kind == TraceEvent::Kind::kStep) {
      ++sequencers_[event.sequencer].left;
    }
  }
  for (const TraceEvent& event : trace.events) {
    if (event.kind == TraceEvent::Kind::kStep) {
      Step(event, trace);
      if (step_ % kLeastInterval == 0) {
        FindLeast(last);
        if (stop && stop()) return false;
      }
    } else {
      Exchange(trace);
    }
  }
  return true;
}

// The minimum of the clocks of those who still do something.
void RaceDetector::FindLeast(bool last) {
  bool any = false;
  for (uint32_t s = 0; s < sequencers_.size(); ++s) {
    const bool goes_on =
        last ? sequencers_[s].left > 0 : !sequencers_[s].stream->empty();
    if (!goes_on) continue;
    const auto clock = ClockOf(s);
    for (size_t i = 0; i < least_.size(); ++i) {
      least_[i] = any ? std::min(least_[i], clock[i]) : clock[i];
    }
    any = true;
  }
  if (any && ends_.empty()) order_.Forget(least_);
}

uint32_t RaceDetector::Snapshot(uint32_t sequencer) {
  Sequencer& s = sequencers_[sequencer];
  if (s.changed) {
    if (s.clock != kNone) order_.clocks().Release(s.clock);
    s.clock = order_.clocks().Add(ClockOf(sequencer));
    s.changed = false;
  }
  order_.clocks().Retain(s.clock);
  return s.clock;
}

int64_t RaceDetector::NextValue(const Trace& trace) {
  return value_at_ < trace.values.size() ? trace.values[value_at_++] : kNoRow;
}

void RaceDetector::TakeWaits(const CoreProgram& core, const Instruction& i,
                             uint32_t sequencer, const Trace& trace) {
  for (const Wait& w : core.WaitsOf(i)) {
    const int64_t value = w.is_register ? NextValue(trace) : w.value;
    order_.Wait(w.semaphore, value, w.consume, sequencer,
                sequencers_[sequencer].sequence, ClockOf(sequencer));
    sequencers_[sequencer].changed = true;
  }
}

void RaceDetector::Step(const TraceEvent& event, const Trace& trace) {
  Sequencer& s = sequencers_[event.sequencer];
  const CoreProgram& core = program_.cores[s.core];
  const Instruction& i = (*s.stream)[event.index];
  const int64_t number = steps_++;
  ++step_;
  --s.left;
  if (s.loops != nullptr) MoveInLoops(s, event.index);
  knows_ = ClockOf(event.sequencer);
  knows_[event.sequencer] = ++s.sequence;
  TakeWaits(core, i, event.sequencer, trace);
  RaceAccess access;
  access.step = step_;
  access.core = s.core;
  access.sequencer = event.sequencer;
  access.instruction = &i;
  access.position = s.positions;
  access.work = {event.sequencer, 1, s.sequence};
  EnterIndices(i, access, knows_);
  const bool dma = Info(i.opcode).dma;
  uint32_t set = 0;
  if (dma) {
    set = static_cast<uint32_t>(
        core.AttributesOf(i)[slot::DmaCopy::kQueueSet].integer());
    access.work = {lanes_.FirstOfQueues(set), program_.queue_sets[set].queues,
                   0};
  }
  if (OfBothCores(core, i)) {
    End end{&i, event.sequencer, s.sequence, {}, {}};
    end.clock.assign(knows_.begin(), knows_.end());
    for (const trnemu::Signal& g : core.SignalsOf(i)) {
      end.signals.push_back(g.is_register ? NextValue(trace) : g.value);
    }
    ends_.emplace(number, std::move(end));
    return;
  }
  if (dma) access.work.sequence = 2 * ++issued_[set];
  EnterOperands(i, access, knows_, trace);
  EnterWritten(knows_);
  if (i.num_signals == 0) return;
  signals_.clear();
  for (const trnemu::Signal& g : core.SignalsOf(i)) {
    signals_.push_back(g.is_register ? NextValue(trace) : g.value);
  }
  SignalAll(core, i, access.work, event.sequencer, s.sequence,
            Snapshot(event.sequencer));
}

void RaceDetector::MoveInLoops(Sequencer& s, size_t index) {
  if (s.sequence > 0 && s.position.Move(*s.loops, s.last, index)) {
    s.recent[++s.positions % kPositions] = s.position;
  }
  s.last = index;
}

bool RaceDetector::IsWrittenBefore(const RaceAccess& b,
                                   const RaceAccess& a) const {
  const Sequencer& of_a = sequencers_[a.sequencer];
  const Sequencer& of_b = sequencers_[b.sequencer];
  if (of_a.core != of_b.core) return false;
  const LoopPosition outside;
  auto at = [](const Sequencer& s, const RaceAccess& access,
               const LoopPosition& none) -> const LoopPosition* {
    if (s.loops == nullptr) return &none;
    if (access.position + kPositions <= s.positions) return nullptr;
    return &s.recent[access.position % kPositions];
  };
  const LoopPosition* const there = at(of_b, b, outside);
  const LoopPosition* const here = at(of_a, a, outside);
  return there != nullptr && here != nullptr &&
         there->Before(b.instruction->order, *here, a.instruction->order);
}

// Takes over one reference to the clock.
void RaceDetector::SignalAll(const CoreProgram& core, const Instruction& i,
                             Work work, uint32_t sequencer, uint32_t sequence,
                             uint32_t clock) {
  size_t n = 0;
  for (const trnemu::Signal& g : core.SignalsOf(i)) {
    order_.clocks().Retain(clock);
    SignalOne(g, signals_[n++], work, sequencer, sequence, clock);
  }
  order_.clocks().Release(clock);
}

void RaceDetector::SignalOne(const trnemu::Signal& g, int64_t value, Work work,
                             uint32_t sequencer, uint32_t sequence,
                             uint32_t clock) {
  // A part that has read its source: the step before.
  if (g.at == SignalAt::kRead && work.lane >= lanes_.sequencers()) {
    --work.sequence;
  }
  const int64_t amount = g.op == SignalOp::kInc ? 1 : value;
  order_.Signal(g.semaphore, {work, amount, clock, sequencer, sequence});
}

// Both ends, of a sendrecv or a collective of both cores, have been triggered:
// the parts of the transfer follow both, and are in a queue of each.
void RaceDetector::Exchange(const Trace& trace) {
  std::array<End, 2> ends;
  std::array<RaceAccess, 2> accesses;
  std::vector<uint32_t> clock(lanes_.size(), 0);
  for (size_t c = 0; c < 2; ++c) {
    const auto found = ends_.find(NextValue(trace));
    if (found == ends_.end()) return;
    ends[c] = std::move(found->second);
    ends_.erase(found);
    Join(clock, ends[c].clock);
  }
  for (size_t c = 0; c < 2; ++c) {
    const Instruction& i = *ends[c].instruction;
    const auto set = static_cast<uint32_t>(
        program_.cores[c].AttributesOf(i)[slot::SendRecv::kQueueSet].integer());
    RaceAccess& access = accesses[c];
    access.step = step_;
    access.core = static_cast<uint32_t>(c);
    access.sequencer = ends[c].sequencer;
    access.instruction = &i;
    access.work = {lanes_.FirstOfQueues(set), program_.queue_sets[set].queues,
                   2 * ++issued_[set]};
  }
  knows_ = clock;
  ++step_;  // both ends' accesses are of one step
  for (size_t c = 0; c < 2; ++c) {
    accesses[c].step = step_;
    EnterOperands(*ends[c].instruction, accesses[c], clock, trace);
  }
  EnterWritten(clock);
  for (const RaceAccess& a : accesses) {
    for (uint32_t q = 0; q < a.work.lanes; ++q) {
      clock[a.work.lane + q] =
          std::max(clock[a.work.lane + q], a.work.sequence);
    }
  }
  for (size_t c = 0; c < 2; ++c) {
    signals_ = ends[c].signals;
    SignalAll(program_.cores[c], *ends[c].instruction, accesses[c].work,
              ends[c].sequencer, ends[c].sequence, order_.clocks().Add(clock));
  }
}

// Index tiles, which even a DMA reads when its engine comes to it.
void RaceDetector::EnterIndices(const Instruction& i, RaceAccess access,
                                Clock clock) {
  const CoreProgram& core = program_.cores[access.core];
  if (i.opcode == Opcode::kCollectiveV) {
    access.operand = slot::CollectiveV::kMetadata;
    ForEachMetadataRow(core, i, [&](const Access& rows, Role role) {
      if (role == Role::kIn) EnterOperand(rows, access, clock);
    });
  }
  if (core.indirections.empty()) return;
  access.operand = kIndexOperand;
  for (const Operand& operand : core.OperandsOf(i)) {
    if (operand.kind != Operand::Kind::kAccess) continue;
    const Indirection* n = core.IndirectionOf(operand.access);
    if (n != nullptr && n->has_index()) EnterOperand(n->index, access, clock);
  }
}

void RaceDetector::EnterOperands(const Instruction& i, RaceAccess access,
                                 Clock clock, const Trace& trace) {
  writes_.reserve(8);
  if (i.opcode == Opcode::kCoreBarrier) return;  // only orders
  const CoreProgram& core = program_.cores[access.core];
  const auto specs = Info(i.opcode).operands;
  const auto operands = core.OperandsOf(i);
  const bool collective = IsCollective(i.opcode);
  for (size_t o = 0; o < specs.size(); ++o) {
    if (operands[o].kind != Operand::Kind::kAccess) continue;
    if (collective && !TouchesOperand(core, i, o)) continue;
    const Access& operand = operands[o].access;
    access.operand = static_cast<uint16_t>(o);
    access.write = specs[o].role != Role::kIn;
    access.owns = i.opcode != Opcode::kPsumReset;
    access.vague = TouchesPart(i.opcode, o);
    if (i.opcode == Opcode::kCollectiveV && o == slot::CollectiveV::kMetadata) {
      access.write = true;
      ForEachMetadataRow(core, i, [&](const Access& rows, Role role) {
        if (role == Role::kOut) EnterOperand(rows, access, clock);
      });
    } else if (const Indirection* n = core.IndirectionOf(operand)) {
      EnterMoved(operand, *n, access, clock, trace);
    } else if (HoldsMxScales(i.opcode, o)) {
      Access rows = operand;
      rows.partitions = std::min<uint16_t>(4, operand.partitions);
      for (int q = 0; q < operands[o - 1].access.partitions / 32; ++q) {
        EnterOperand(rows, access, clock);
        rows.start_partition = static_cast<uint16_t>(rows.start_partition + 32);
      }
    } else {
      EnterOperand(operand, access, clock);
    }
  }
}

bool RaceDetector::TouchesOperand(const CoreProgram& core, const Instruction& i,
                                  size_t operand) const {
  if (i.opcode == Opcode::kCollectiveV) return true;
  using S = slot::Collective;
  const auto a = core.AttributesOf(i);
  const auto groups = static_cast<size_t>(a[S::kGroups].integer());
  if (groups >= program_.replica_groups.size()) return true;
  const CollectiveTouch touch =
      TouchedBy(a[S::kKind].as<CollectiveKind>(),
                program_.replica_groups[groups], a[S::kPeer].integer(), rank_);
  return operand == S::kDst ? touch.dst : touch.src;
}

void RaceDetector::EnterMoved(const Access& operand, const Indirection& n,
                              RaceAccess access, Clock clock,
                              const Trace& trace) {
  Access moved = operand;
  moved.indirection = 0;
  if (n.kind == IndirectionKind::kTensor) {
    // The first and the last element are known.
    const auto size = static_cast<int64_t>(SizeOf(operand.dtype));
    const int64_t first = NextValue(trace);
    const int64_t last = NextValue(trace);
    if (first == kNoRow || last == kNoRow) return;
    moved.offset += first / size;
    moved.rank = 1;
    moved.dims[0] = {1, (last - first) / size + 1};
    access.vague = true;
    EnterOperand(moved, access, clock);
    return;
  }
  const bool rows = n.kind == IndirectionKind::kVector;
  if (rows) moved.dims[0] = {0, 1};
  const int64_t count = rows ? NextValue(trace) : 1;
  const auto size = static_cast<int64_t>(SizeOf(operand.dtype));
  for (int64_t row = 0; row < count; ++row) {
    const int64_t bytes = NextValue(trace);
    if (bytes == kNoRow) continue;  // skipped
    moved.offset = operand.offset + bytes / size;
    EnterOperand(moved, access, clock);
  }
}

void RaceDetector::EnterOperand(const Access& operand, RaceAccess access,
                                Clock clock) {
  if (!operand.on_chip() && !written_[operand.tensor]) return;
  access.tensor = operand.tensor;
  access.footprint = FootprintOf(operand, program_.tensors[operand.tensor]);
  if (access.write) {
    writes_.push_back(access);
    return;
  }
  // Of a part the read is complete before the write.
  if (access.work.lane >= lanes_.sequencers()) --access.work.sequence;
  HistoryOf(access)->Enter(access, clock, least_, *this);
}

void RaceDetector::EnterWritten(Clock clock) {
  for (const RaceAccess& access : writes_) {
    HistoryOf(access)->Enter(access, clock, least_, *this);
  }
  writes_.clear();
}

AccessHistory* RaceDetector::HistoryOf(const RaceAccess& access) {
  const Tensor& t = program_.tensors[access.tensor];
  if (t.on_chip()) {
    const bool psum = t.space() == Space::kPsum;
    auto& history = on_chip_[2 * access.core + (psum ? 1 : 0)];
    if (history == nullptr) {
      history = std::make_unique<AccessHistory>(
          placement_.PartitionBytes(access.core, psum), true);
    }
    return history.get();
  }
  auto& history = hbm_[access.tensor];
  if (history == nullptr) {
    history = std::make_unique<AccessHistory>(t.nbytes(), false,
                                              rows_[access.tensor].pitch());
  }
  return history.get();
}

}  // namespace trnemu
