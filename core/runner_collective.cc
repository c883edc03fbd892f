// Collectives in the scheduler: what a rank triggers, the moves that its DMA
// engines carry out, and its completions. Who meets whom and where data goes
// is the transport's (core/transport.h).
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/collective_touch.h"
#include "core/engines/rows.h"
#include "core/profile/timeline.h"
#include "core/runner.h"

namespace trnemu {
namespace {

// A descriptor moves at least this much before another engine helps.
constexpr int64_t kLeastPart = 512;
// Queues of moves, beside those of the program's queue sets.
constexpr uint32_t kMoveQueues = 1u << 20;

absl::Status NoSystem(std::string_view what) {
  Diagnostic d;
  d.category = Category::kInput;
  d.id = "collective.no_system";
  d.message = absl::StrCat(
      std::string(what),
      " is one of several ranks' of a system, but the program runs alone");
  d.remedy =
      "run it with trnemu.System(...).run(program, inputs), or trnemu run "
      "--system NAME --ranks N";
  return ToStatus(std::move(d));
}

bool SameTile(const Tile& a, const Tile& b) {
  return a.base == b.base && a.partitions == b.partitions &&
         a.free_size == b.free_size && a.dtype == b.dtype;
}

bool SameCollective(const CollectiveCall& a, const CollectiveCall& b) {
  const auto same = [](const CollectiveCall::Tensors& x,
                       const CollectiveCall::Tensors& y) {
    return x.has_dst == y.has_dst && x.has_src == y.has_src &&
           x.has_src1 == y.has_src1 && (!x.has_dst || SameTile(x.dst, y.dst)) &&
           (!x.has_src || SameTile(x.src, y.src)) &&
           (!x.has_src1 || SameTile(x.src1, y.src1));
  };
  return a.kind == b.kind && a.op == b.op && a.groups == b.groups &&
         a.dim == b.dim && a.peer == b.peer && a.stream == b.stream &&
         a.recv_counts_known == b.recv_counts_known &&
         a.has_rdispls == b.has_rdispls &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(),
                    b.tensors.end(), same);
}

// " at file.py:7"; "" where nothing says where.
std::string DescribePlace(const Program& program, const Instruction& i) {
  const std::string source = program.DescribeSource(i.source);
  return source.empty() ? source : absl::StrCat(" at ", source);
}

}  // namespace

void Runner::Connect(Transport* transport) {
  transport_ = transport;
  if (transport != nullptr && races_ != nullptr) {
    races_->SetRank(transport->rank());
  }
}

Ticks Runner::NextTime() {
  Ticks next = events_.empty() ? kNever : events_.top().time;
  for (Sequencer& s : sequencers_) {
    if (s.done()) continue;
    if (!s.prepared) Prepare(s);
    if (!s.blocked) next = std::min(next, s.earliest);
  }
  return next;
}

absl::Status Runner::RankRegister(Sequencer& s) {
  const Instruction& i = *s.next;
  if (transport_ == nullptr) return NoSystem("the rank's number");
  const CoreProgram& core = program_.cores[s.core];
  const auto operands = core.OperandsOf(i);
  const uint32_t rank = transport_->rank();
  if (i.opcode == Opcode::kRankId) {
    s.registers.Set(operands[slot::RankId::kDst].reg(),
                    static_cast<int32_t>(rank));
    return absl::OkStatus();
  }
  using S = slot::ProcessingRank;
  const Operand& operand = operands[S::kIteration];
  const int64_t iteration =
      operand.kind == Operand::Kind::kRegister
          ? s.registers.value(operand.reg())
          : static_cast<int64_t>(operand.immediate);
  const ReplicaGroups& groups =
      program_.replica_groups[static_cast<size_t>(
          core.AttributesOf(i)[S::kGroups].integer())];
  for (const auto& group : groups) {
    const auto at = std::find(group.begin(), group.end(), rank);
    if (at == group.end()) continue;
    const auto n = static_cast<int64_t>(group.size());
    const int64_t from = ((at - group.begin() - iteration) % n + n) % n;
    s.registers.Set(operands[S::kDst].reg(),
                    static_cast<int32_t>(group[static_cast<size_t>(from)]));
    return absl::OkStatus();
  }
  return MakeFault(Category::kIllegal, "collective.not_in_group",
                   absl::StrCat("rank ", rank, " is in no list of the replica "
                                               "group"));
}

absl::Status Runner::CheckSources(const CollectiveCall& call) {
  CoreState& state = *states_[call.core];
  if (!options_.values || call.has_metadata ||
      !TouchedBy(call.kind, *call.groups, call.peer, transport_->rank()).src) {
    return absl::OkStatus();
  }
  current_ = call.instruction;
  current_core_ = call.core;
  for (const CollectiveCall::Tensors& tensors : call.tensors) {
    absl::Status status;
    do {
      if (!state.check_memory) return absl::OkStatus();
      status = absl::OkStatus();
      if (tensors.has_src) status = AdmitUnwritten(state, tensors.src, "src");
      if (status.ok() && tensors.has_src1) {
        status = AdmitUnwritten(state, tensors.src1, "src1");
      }
      if (!status.ok()) status = LocateCall(status, call);
    } while (Hold(status));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Rows 0, 1 and 3 are read, of a gather's first two the first column.
absl::Status Runner::CheckMetadata(const CollectiveCall& call) {
  CoreState& state = *states_[call.core];
  if (!options_.values || !state.check_memory) return absl::OkStatus();
  const Tile& tile = call.metadata;
  const int64_t columns = static_cast<int64_t>(tile.partitions) *
                          tile.free_size / (call.has_rdispls ? 4 : 3);
  for (const int64_t row : {0, 1, 3}) {
    if (row == 3 && !call.has_rdispls) continue;
    const bool one = call.kind == CollectiveKind::kAllGatherV && row < 2;
    absl::Status status = AdmitUnwritten(state, tile, "metadata_tensor",
                                         row * columns, one ? 1 : columns);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// What the next instruction says of its collective, and its tensors.
CollectiveCall::Tensors Runner::TakeTensors(Sequencer& s,
                                            CollectiveCall& call) {
  const auto a = program_.cores[s.core].AttributesOf(*s.next);
  const bool counts = s.next->opcode == Opcode::kCollectiveV;
  using C = slot::Collective;
  using V = slot::CollectiveV;
  call.instruction = s.next;
  call.core = s.core;
  call.kind = a[C::kKind].as<CollectiveKind>();
  // Of send and recv none: a program may have no groups at all.
  static const auto* const none = new ReplicaGroups;
  const auto groups = static_cast<size_t>(
      a[counts ? size_t{V::kGroups} : size_t{C::kGroups}].integer());
  call.groups = groups < program_.replica_groups.size()
                    ? &program_.replica_groups[groups]
                    : none;
  call.stream = a[counts ? size_t{V::kStream} : size_t{C::kStream}].integer();
  call.both_cores =
      a[counts ? size_t{V::kBothCores} : size_t{C::kBothCores}].boolean();
  call.trigger = s.earliest;
  CollectiveCall::Tensors tensors;
  const auto take = [&](size_t slot, bool& has, Tile& tile) {
    has = s.slots[slot].kind == Operand::Kind::kAccess;
    if (has) tile = s.slots[slot].tile;
  };
  take(C::kDst, tensors.has_dst, tensors.dst);
  take(C::kSrc, tensors.has_src, tensors.src);
  if (counts) {
    take(V::kMetadata, call.has_metadata, call.metadata);
    call.has_rdispls = a[V::kHasRdispls].boolean();
    call.recv_counts_known = a[V::kRecvCountsKnown].boolean();
  } else {
    take(C::kSrc1, tensors.has_src1, tensors.src1);
    call.op = a[C::kOp].as<AluOp>();
    call.dim = a[C::kDim].integer();
    call.channel = a[C::kChannel].integer();
    call.peer = a[C::kPeer].integer();
  }
  return tensors;
}

absl::Status Runner::StepCollective(Sequencer& s) {
  if (transport_ == nullptr) {
    return NoSystem(absl::StrCat("this ", program_.operations[s.next->operation]));
  }
  absl::Status status = s.dynamic ? MoveSlots(s) : absl::OkStatus();
  if (!status.ok()) return status;
  open_calls_.resize(sequencers_.size());
  CollectiveCall& call =
      open_calls_[static_cast<size_t>(&s - sequencers_.data())];
  const auto attributes = program_.cores[s.core].AttributesOf(*s.next);
  using C = slot::Collective;
  const bool counts = s.next->opcode == Opcode::kCollectiveV;
  const bool goes_on = !counts && attributes[C::kTensor].integer() > 0;
  const int64_t previous = goes_on ? call.ticket : -1;
  const int64_t tensor = counts ? 0 : attributes[C::kTensor].integer();
  if (tensor != static_cast<int64_t>(call.tensors.size())) {
    return MakeFault(
        Category::kMalformed, "malformed.collective",
        absl::StrCat("tensor ", tensor, " of a collective is given after ",
                     call.tensors.size(),
                     " others: a branch leads into its list of tensors, or "
                     "out of it"));
  }
  const CollectiveCall::Tensors tensors = TakeTensors(s, call);
  const bool last = counts || attributes[C::kTensors].integer() ==
                                  static_cast<int64_t>(call.tensors.size()) + 1;
  // Of both cores' call only once the other has written its part.
  const bool other_here =
      !halves_.empty() && halves_.front().core != call.core;
  if (call.has_metadata && (!call.both_cores || other_here)) {
    status = CheckMetadata(call);
    if (!status.ok()) return status;
  }
  call.tensors.push_back(tensors);
  int64_t ticket = static_cast<int64_t>(collectives_.size());
  if (free_tickets_.empty()) {
    collectives_.emplace_back();
  } else {
    ticket = free_tickets_.back();
    free_tickets_.pop_back();
  }
  Pending& pending = collectives_[static_cast<size_t>(ticket)];
  pending = {s.next,     s.core,   ResolveSignals(s), -1,
             s.earliest, previous, traced_steps_ - 1};
  if (timeline_ != nullptr) pending.record = timeline_->next_instruction();
  call.ticket = ticket;
  ++profile_.engines[static_cast<size_t>(Engine::kDma)].instructions;
  EngineProfile& profile = profile_.engines[static_cast<size_t>(s.engine)];
  const DmaCost cost = CollectiveCost(s.engine);
  profile.waiting += s.earliest - s.ready;
  profile.busy += cost.trigger;
  s.issue_ready = s.earliest + cost.trigger;
  s.last_completion = std::max(s.last_completion, s.issue_ready);
  if (!last) return absl::OkStatus();
  CollectiveCall whole = std::exchange(call, {});
  return whole.both_cores ? MeetOtherCore(std::move(whole))
                          : transport_->Trigger(std::move(whole));
}

// The k-th collective of both cores on one core is the k-th on the other.
absl::Status Runner::MeetOtherCore(CollectiveCall call) {
  if (halves_.empty() || halves_.front().core == call.core) {
    halves_.push_back(std::move(call));
    return absl::OkStatus();
  }
  CollectiveCall other = std::move(halves_.front());
  halves_.pop_front();
  const Ticks trigger = call.trigger;
  if (call.core != 0) std::swap(call, other);
  if (!SameCollective(call, other)) {
    Diagnostic d;
    d.category = Category::kIllegal;
    d.id = "collective.cores";
    d.operand = "both_cores";
    d.message = absl::StrCat(
        "the cores of the rank come to different collectives of both cores: ",
        std::string(Name(call.kind)), " on core 0",
        DescribePlace(program_, *call.instruction), ", ",
        std::string(Name(other.kind)), " on core 1",
        DescribePlace(program_, *other.instruction));
    d.remedy =
        "let both cores call the same collectives, with the same tensors, in "
        "the same order";
    return ToStatus(std::move(d));
  }
  if (other.has_metadata && other.metadata.base != call.metadata.base) {
    call.has_other_metadata = true;
    call.other_metadata = other.metadata;
  }
  // Its end is that of the other core's instructions, too.
  int64_t first = call.ticket;
  for (int64_t theirs = other.ticket;;) {
    const Pending& a = collectives_[static_cast<size_t>(first)];
    const Pending& b = collectives_[static_cast<size_t>(theirs)];
    if (races_ != nullptr) {
      trace_.events.push_back({0, 0, TraceEvent::Kind::kExchange});
      trace_.values.push_back(a.step);
      trace_.values.push_back(b.step);
    }
    if (a.previous < 0) break;
    first = a.previous;
    theirs = b.previous;
  }
  collectives_[static_cast<size_t>(first)].previous = other.ticket;
  call.trigger = trigger;
  return transport_->Trigger(std::move(call));
}

// Of moves in HBM, as descriptors that were made before the run.
DmaCost Runner::CollectiveCost(Engine trigger) const {
  Tile hbm;
  hbm.space = Space::kHbm;
  hbm.dtype = Dtype::kUint8;
  return time_.CostOfDma(hbm, hbm, trigger);
}

void Runner::StartMove(const MoveWork& work, Ticks time) {
  int64_t index = static_cast<int64_t>(moves_.size());
  if (free_moves_.empty()) {
    moves_.push_back(work);
  } else {
    index = free_moves_.back();
    free_moves_.pop_back();
    moves_[static_cast<size_t>(index)] = work;
  }
  Event event;
  event.time = time;
  event.sequence = next_sequence_++;
  event.move = index;
  events_.push(event);
}

// A collective core takes it up; a share of the rank's DMA engines does it.
void Runner::ScheduleMove(const MoveWork& work) {
  const Pending& pending = collectives_[static_cast<size_t>(work.ticket)];
  // As many as the system's cores have.
  const auto core_number = static_cast<size_t>(work.cc_core);
  if (cc_free_.size() <= core_number) cc_free_.resize(core_number + 1, 0);
  Ticks& cc = cc_free_[core_number];
  cc = std::max(now_, cc) + work.cc_step;
  const DmaCost cost = CollectiveCost(Engine::kSync);
  const Ticks payload = cc + cost.start;
  const int64_t each = static_cast<int64_t>(dma_engines_[0].size());
  const int64_t all = each * static_cast<int64_t>(dma_engines_.size());
  const int64_t first = all * work.channel / work.channels % all;
  const int64_t engines =
      std::max<int64_t>(1, all / std::max(1, work.channels));
  const int64_t parts = std::clamp<int64_t>(
      (work.bytes + kLeastPart - 1) / kLeastPart, 1, engines);
  const int64_t index = NewTransfer();
  Transfer& t = transfers_[static_cast<size_t>(index)];
  t.instruction = pending.instruction;
  t.core = pending.core;
  t.move = work.id;
  t.record = -1;
  t.parts_left = parts;
  t.done.assign(static_cast<size_t>(parts), 0);
  t.hbm_rate = 0;
  t.trigger = kNever;  // when its bytes begin to go
  parts_under_way_ += parts;
  // Each core has its even share of the stack, whether or not the others move
  // something at this moment: the channels of a collective work side by side.
  const double even = machine_.hardware->memory.hbm_stack_bandwidth /
                      static_cast<double>(dma_engines_.size());
  DmaShape timed;
  size_t timed_core = 0;
  DmaPartTime time;
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t engine = (first + p) % all;
    const auto core = static_cast<size_t>(engine / each);
    DmaShape shape;
    const int64_t bytes =
        work.bytes * (p + 1) / parts - work.bytes * p / parts;
    shape.bytes = bytes * std::max(1, work.sources);
    shape.rows = 1;
    shape.row_bytes = shape.bytes;
    PartTimes times = {payload, payload, 0, payload, payload, payload};
    if (bytes > 0) {
      if (shape.bytes != timed.bytes || core != timed_core) {
        timed = shape;
        timed_core = core;
        time = time_.TimeOfDmaPart(
            cost, shape, std::min(even, hbm_.Grant(core, payload, payload)),
            work.packet_bytes);
      }
      profile_.engines[static_cast<size_t>(Engine::kDma)].busy += time.busy;
      const Ticks extra = time.payload - time.busy;
      const DmaJob job = {
          index,
          static_cast<int32_t>(p),
          kMoveQueues + static_cast<uint32_t>(work.cc_core * 64 + work.channel),
          payload,
          time.busy,
          extra,
          std::max<Ticks>(1, work.packet_bytes /
                                 machine_.hardware->dma.packet_bytes)};
      const DmaEngines::Times of = dma_engines_[core].Add(
          static_cast<size_t>(engine % each), now_, job, delays_);
      for (const DmaEngines::Delay& d : delays_) Delay(core, d, 1);
      delays_.clear();
      UseHbm(core, t, of.done, time_.HbmRateOf(cost, shape, time));
      times = {payload, of.taken, time.busy, of.end, of.done, of.done};
    }
    foreseen_ = std::max(foreseen_, times.end);
    t.trigger = std::min(t.trigger, times.start);
    t.done[static_cast<size_t>(p)] = times.end;
    if (timeline_ != nullptr) RecordMovePart(t, pending, p, core, shape, times);
    EndPartAt(times.end, index, static_cast<int32_t>(p));
  }
  EndParts();
  profile_.dma_bytes += work.bytes;
}

void Runner::RecordMovePart(Transfer& t, const Pending& pending, int64_t part,
                            size_t core, const DmaShape& shape,
                            const PartTimes& times) {
  DmaRecord record;
  record.instruction = pending.record;
  record.trigger = pending.trigger;
  record.queue_set = static_cast<uint16_t>(
      program_.cores[pending.core]
          .AttributesOf(*pending.instruction)[slot::Collective::kQueueSet]
          .integer());
  record.direction = DmaDirection::kHbm;
  record.hbm_read = shape.bytes;
  AddRecord(t, record, core, static_cast<size_t>(part), shape, times);
}

void Runner::FinishMoveParts(const Event& event) {
  Transfer& t = transfers_[static_cast<size_t>(event.transfer)];
  parts_under_way_ -= event.parts;
  t.parts_left -= event.parts;
  if (t.parts_left > 0) return;
  transport_->MoveEnded(t.move, t.trigger, now_);
  t.move = -1;
  profile_.end = std::max(profile_.end, now_);
  free_transfers_.push_back(event.transfer);
}

void Runner::CountRemote(int64_t read, int64_t written) {
  profile_.hbm_read_bytes += read;
  profile_.hbm_write_bytes += written;
}

void Runner::Complete(int64_t ticket, Ticks time) {
  Event event;
  event.time = time;
  event.sequence = next_sequence_++;
  event.ticket = ticket;
  events_.push(event);
}

absl::Status Runner::FinishCollective(int64_t ticket) {
  // Those of a list of tensors are complete together, the first one first.
  std::vector<int64_t> chain;
  for (int64_t at = ticket; at >= 0;
       at = collectives_[static_cast<size_t>(at)].previous) {
    chain.push_back(at);
  }
  std::reverse(chain.begin(), chain.end());
  for (const int64_t at : chain) {
    const Pending pending = collectives_[static_cast<size_t>(at)];
    free_tickets_.push_back(at);
    if (timeline_ != nullptr) {
      Transfer none;
      RecordMovePart(none, pending, 0, pending.core, {},
                     {now_, now_, 0, now_, now_, now_});
      timeline_->FromPart(none.record, now_);
    }
    const Instruction& i = *pending.instruction;
    absl::Status status = Signal(i, pending.core, now_, pending.resolved);
    if (!status.ok()) return status;
    FreeSignals(pending.resolved);
    if (options_.log) {
      Log(pending.core, i, pending.trigger, now_, std::string());
    }
  }
  profile_.end = std::max(profile_.end, now_);
  return absl::OkStatus();
}

}  // namespace trnemu
