// DMA transfers of a run: their operands, parts and ends; and the operands of
// engines whose place depends on indices.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/duplicates.h"
#include "core/dynamic.h"
#include "core/engines/indirect.h"
#include "core/runner.h"

namespace trnemu {
namespace {

OobMode OobModeOf(Opcode opcode, std::span<const Attribute> attributes) {
  switch (opcode) {
    case Opcode::kDmaCopy:
      return attributes[slot::DmaCopy::kOobMode].as<OobMode>();
    case Opcode::kDmaTranspose:
      return attributes[slot::DmaTranspose::kOobMode].as<OobMode>();
    case Opcode::kDmaCompute:
      return attributes[slot::DmaCompute::kOobMode].as<OobMode>();
    default:
      return OobMode::kError;
  }
}

// Takes the rows' dimension out of a tile: what is left is one row.
void DropRows(Tile& tile) {
  tile.free_size /= tile.dims[0].count;
  if (tile.rank == 1) {
    tile.dims[0] = {0, 1};
    return;
  }
  std::copy(tile.dims.begin() + 1, tile.dims.end(), tile.dims.begin());
  --tile.rank;
}

absl::Status ValuesOff(const std::string& what) {
  return MakeFault(Category::kUnsupported, "unsupported.values_off",
                   absl::StrCat(what, ", whose values are not computed with "
                                      "values off, and simulated time depends "
                                      "on them"));
}

void WarnOfOverlap(FindingSink& sink) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.severity = Severity::kWarning;
  d.id = "dma_copy.overlap";
  d.operand = "dst";
  d.message =
      "src and dst share bytes, and the parts of a transfer run at the same "
      "time: the result depends on their order";
  d.remedy = "go through another tile, or use tensor_copy";
  d.reference = "nki/api/nki/isa/__init__.py:246, which does not say";
  sink.Warn(std::move(d));
}

void WarnOfDuplicates(const std::vector<int64_t>& offsets,
                      std::pair<int64_t, int64_t> rows, FindingSink& sink) {
  const bool same = offsets[static_cast<size_t>(rows.first)] ==
                    offsets[static_cast<size_t>(rows.second)];
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.severity = Severity::kWarning;
  d.id = "dma.duplicate_rows";
  d.operand = "dst";
  d.message = absl::StrCat(
      same ? "dst: the indices" : "dst: the rows of the indices",
      " at positions ", rows.first, " and ", rows.second,
      same ? " are the same: which of the two rows stays"
           : " share elements: which value stays",
      " depends on the order of descriptors");
  d.details = {{"positions", absl::StrCat(rows.first, ", ", rows.second)}};
  d.remedy = "use every index once";
  d.reference = "nki/api/nki/isa/__init__.py:246, which does not say";
  sink.Warn(std::move(d));
}

}  // namespace

absl::Status Runner::ReadIndices(const Sequencer& s, size_t o, OobMode mode,
                                 int64_t& bytes, std::vector<int64_t>* rows) {
  const Slot& slot = s.slots[o];
  const Indirection& indirection = *slot.indirection;
  const Access& access = program_.cores[s.core].OperandsOf(*s.next)[o].access;
  const auto size = static_cast<int64_t>(SizeOf(access.dtype));
  Tile index;
  if (indirection.has_index()) {
    placement_.Resolve(s.core, indirection.index, index);
  }
  IndexReader reader(indirection, index, s.registers.values(),
                     Info(s.next->opcode).operands[o].name,
                     program_.tensors[access.tensor].name, mode,
                     *states_[s.core]);
  if (indirection.is_scalar()) return reader.ReadScalar(size, bytes);
  if (indirection.kind == IndirectionKind::kVector) {
    return reader.ReadRows(size, access.dims[0].count, *rows);
  }
  return reader.ReadOffsets(size, access.partitions, access.dims[0].count,
                            TensorGroup(s.engine), *rows);
}

absl::Status Runner::MoveSlots(Sequencer& s) {
  const size_t count = Info(s.next->opcode).operands.size();
  for (size_t o = 0; o < count; ++o) {
    Slot& slot = s.slots[o];
    if (slot.indirection == nullptr || !slot.indirection->is_scalar()) continue;
    if (!options_.values && slot.indirection->has_index()) {
      return ValuesOff(absl::StrCat(
          "the place of ", std::string(Info(s.next->opcode).operands[o].name),
          " is read from memory"));
    }
    int64_t bytes = 0;
    absl::Status status = ReadIndices(s, o, OobMode::kError, bytes, nullptr);
    if (!status.ok()) return status;
    if (races_ != nullptr) trace_.values.push_back(bytes);
    slot.tile = Moved(slot.tile, bytes);
    slot.indirection = nullptr;
  }
  return absl::OkStatus();
}

absl::Status Runner::ExecuteSlots(const Sequencer& s, CoreState& state) {
  const ExecuteArgs args = ArgsOf(s);
  bool offsets = false;
  for (const Slot& slot : args.slots) {
    offsets = offsets || slot.indirection != nullptr;
  }
  if (!offsets) {
    absl::Status status = BeforeExecution(s);
    return status.ok() ? ExecuteOf(s.next->opcode)(args, state) : status;
  }
  // Elements of one operand may be many: the first and the last are traced.
  for (size_t o = 0; o < args.slots.size(); ++o) {
    if (args.slots[o].indirection == nullptr) continue;
    int64_t unused = 0;
    absl::Status status =
        ReadIndices(s, o, OobMode::kError, unused, &OffsetsBuffer(state, o));
    if (!status.ok()) return status;
    const auto& offsets_of = OffsetsBuffer(state, o);
    if (races_ == nullptr || offsets_of.empty()) continue;
    const auto ends = std::minmax_element(offsets_of.begin(), offsets_of.end());
    trace_.values.push_back(*ends.first);
    trace_.values.push_back(*ends.second);
  }
  absl::Status status = BeforeExecution(s);
  return status.ok() ? ExecuteIndirect(s.next->opcode, args, state) : status;
}

// `o` is the operand's slot.
absl::Status Runner::MakeDmaOperand(const Sequencer& s, size_t o, OobMode mode,
                                    DmaTransfer& dma, DmaOperand& to) {
  const Slot& slot = s.slots[o];
  to.tile = slot.tile;
  to.rows.clear();
  to.has_rows = slot.indirection != nullptr &&
                slot.indirection->kind == IndirectionKind::kVector;
  if (slot.indirection == nullptr) return absl::OkStatus();
  int64_t bytes = 0;
  if (to.has_rows) {
    to.rows.assign(static_cast<size_t>(to.tile.dims[0].count), 0);
    DropRows(to.tile);
  }
  if (!options_.values && slot.indirection->has_index()) {
    // Where it lies does not change how long it takes; that it is left out
    // does. (Rows that are left out count for time as those that are moved.)
    return mode == OobMode::kSkip && !to.has_rows
               ? ValuesOff(absl::StrCat(
                     "oob_mode=skip leaves the transfer out if the index of ",
                     std::string(Info(s.next->opcode).operands[o].name),
                     " is out of bounds; it is read from memory"))
               : absl::OkStatus();
  }
  absl::Status status = ReadIndices(s, o, mode, bytes, &to.rows);
  if (!status.ok()) return status;
  if (races_ != nullptr) {
    auto& values = trace_.values;
    values.push_back(to.has_rows ? static_cast<int64_t>(to.rows.size())
                                 : bytes);
    values.insert(values.end(), to.rows.begin(), to.rows.end());
  }
  if (to.has_rows) return status;
  if (bytes == kNoRow) {
    dma.nothing = true;
  } else {
    to.tile = Moved(to.tile, bytes);
  }
  return absl::OkStatus();
}

absl::Status Runner::MakeTransfer(const Sequencer& s, DmaTransfer& dma) {
  const Instruction& i = *s.next;
  const auto attributes = program_.cores[s.core].AttributesOf(i);
  const OobMode mode = OobModeOf(i.opcode, attributes);
  dma.opcode = i.opcode;
  dma.nothing = false;
  dma.rows_are_columns = false;
  dma.num_srcs = 0;
  absl::Status status =
      MakeDmaOperand(s, slot::DmaCopy::kDst, mode, dma, dma.dst);
  const size_t slots = Info(i.opcode).operands.size();
  for (size_t o = slot::DmaCopy::kSrc; o < slots && status.ok(); ++o) {
    if (s.slots[o].kind != Operand::Kind::kAccess) break;
    DmaOperand& src = dma.srcs[static_cast<size_t>(dma.num_srcs++)];
    status = MakeDmaOperand(s, o, mode, dma, src);
  }
  if (status.ok() && i.opcode == Opcode::kDmaTranspose) {
    MakeTranspose(dma, attributes[slot::DmaTranspose::kAxes].bits);
  }
  return status;
}

void Runner::WarnOfTransfer(const DmaTransfer& dma) {
  if (!options_.values) return;
  if (SourceAndDestinationOverlap(dma)) WarnOfOverlap(*this);
  if (dma.nothing || WarnOfDuplicateElements(dma.dst.tile, *this) ||
      !dma.dst.has_rows) {
    return;
  }
  const auto rows = DuplicateRows(dma.dst);
  if (rows.first >= 0) WarnOfDuplicates(dma.dst.rows, rows, *this);
}

int64_t Runner::NewTransfer() {
  if (free_transfers_.empty()) {
    transfers_.emplace_back();
    return static_cast<int64_t>(transfers_.size()) - 1;
  }
  const int64_t index = free_transfers_.back();
  free_transfers_.pop_back();
  return index;
}

absl::Status Runner::StepDma(Sequencer& s) {
  absl::Status status = AfterExecution(s);
  if (!status.ok()) return status;
  if (s.next->opcode == Opcode::kSendRecv) return StepExchange(s);
  if (IsCollective(s.next->opcode)) return StepCollective(s);
  const int64_t index = NewTransfer();
  Transfer& t = transfers_[index];
  const auto set = program_.cores[s.core]
                       .AttributesOf(*s.next)[slot::DmaCopy::kQueueSet]
                       .integer();
  t.instruction = s.next;
  t.core = s.core;
  status = MakeTransfer(s, t.dma);
  if (!status.ok()) return status;
  SplitDma(t.dma, static_cast<int>(program_.queue_sets[set].queues), t.parts);
  t.parts_left = static_cast<int64_t>(t.parts.size());
  parts_under_way_ += t.parts_left;
  if (options_.log) t.digests.assign(1, EffectDigest(program_));
  WarnOfTransfer(t.dma);
  t.trigger = s.earliest;
  t.record = -1;
  t.resolved = ResolveSignals(s);
  ++profile_.engines[static_cast<size_t>(Engine::kDma)].instructions;
  if (options_.order == Order::kTimed) {
    ScheduleParts(s, index);
    EndParts();
    return absl::OkStatus();
  }
  const int32_t parts = static_cast<int32_t>(t.parts.size());
  if (options_.order == Order::kRandom) {
    for (int32_t p = 0; p < parts; ++p) {
      pending_parts_[set * kDmaQueues + p].emplace_back(index, p);
      ++pending_count_;
    }
    return absl::OkStatus();
  }
  for (int32_t p = 0; p < parts; ++p) {
    status = FinishPart(index, p);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Runner::ReadPart(int64_t index, int32_t part, StagedPart& staged) {
  const Transfer& t = transfers_[index];
  const Instruction& i = *t.instruction;
  current_ = &i;
  current_core_ = t.core;
  if (options_.values) {
    absl::Status status;
    do {
      status = ReadDmaPart(t.dma, t.parts[part], staged, *states_[t.core]);
      if (!status.ok()) status = Locate(status, t.core, i);
    } while (Hold(status));
    if (!status.ok()) return status;
  }
  current_ = nullptr;
  staged.has_read = true;
  if (Observed()) {
    Effect effect = EffectOf(index, part, nullptr);
    effect.kind = Effect::Kind::kRead;
    absl::Status status = After(effect);
    if (!status.ok()) return Locate(status, t.core, i);
    MayPause();
  }
  return SignalAll(SignalAt::kRead, i, t.core, now_, t.resolved);
}

void Runner::EndTransfer(int64_t index) {
  const Transfer& t = transfers_[static_cast<size_t>(index)];
  FreeSignals(t.resolved);
  if (options_.log) {
    Log(t.core, *t.instruction, t.trigger, now_, t.digests[0].Text());
  }
  profile_.end = std::max(profile_.end, now_);
  free_transfers_.push_back(index);
}

absl::Status Runner::FinishPart(int64_t index, int32_t part,
                                const StagedPart* staged) {
  Transfer& t = transfers_[index];
  if (t.exchange >= 0) return FinishExchangePart(index, part);
  const Instruction& i = *t.instruction;
  const size_t core = t.core;
  current_ = &i;
  current_core_ = core;
  if (options_.values) {
    const Effect effect = EffectOf(index, part, staged);
    absl::Status status = Before(effect);
    if (status.ok()) {
      do {
        status = ExecuteDmaPart(*effect.dma, t.parts[part], *states_[core]);
        if (!status.ok()) status = Locate(status, core, i);
      } while (Hold(status));
    }
    if (status.ok()) status = After(effect);
    if (!status.ok()) return Locate(status, core, i);
    if (options_.log) t.digests[0].Add(effect);
  }
  --parts_under_way_;
  current_ = nullptr;
  SignalsComeFrom(t, part);
  absl::Status status = staged != nullptr ? SignalAll(SignalAt::kComplete, i,
                                                      core, now_, t.resolved)
                                          : Signal(i, core, now_, t.resolved);
  if (!status.ok()) return status;
  if (--t.parts_left == 0) EndTransfer(index);
  MayPause();
  return absl::OkStatus();
}

void Runner::EndPartAt(Ticks time, int64_t transfer, int32_t part) {
  const bool joins = joining_.parts > 0 && joining_.time == time &&
                     joining_.transfer == transfer && !Observed();
  if (joins) {
    ++joining_.parts;
    return;
  }
  EndParts();
  const Transfer& t = transfers_[static_cast<size_t>(transfer)];
  joining_ = {time, next_sequence_++, t.instruction, t.core, transfer, part};
}

void Runner::EndParts() {
  if (joining_.parts > 0) events_.push(joining_);
  joining_.parts = 0;
}

// A sum is the same in any order, and who waits for it sees its end.
bool Runner::SignalTogether(const Transfer& t, int64_t parts) {
  const Instruction& i = *t.instruction;
  if (i.num_signals == 0) return true;
  if (i.num_signals > 1 || t.resolved >= 0) return false;
  trnemu::Signal sum = program_.cores[t.core].SignalsOf(i)[0];
  if (sum.op == SignalOp::kInc) sum = {sum.semaphore, SignalOp::kAdd};
  if (sum.op != SignalOp::kAdd || sum.value < 0) return false;
  const int64_t limit = machine_.hardware->sequencer.semaphore_max;
  const int64_t now = semaphores_.value(sum.semaphore);
  if (sum.value > limit || now + sum.value * parts > limit) return false;
  sum.value *= parts;
  semaphores_.Apply(sum);
  semaphore_use_.Signalled(t.core, i, 0, static_cast<uint32_t>(parts));
  Wake(sum.semaphore, now_);
  return true;
}

absl::Status Runner::FinishParts(const Event& e) {
  Transfer& t = transfers_[static_cast<size_t>(e.transfer)];
  if (t.move >= 0) {
    FinishMoveParts(e);
    return absl::OkStatus();
  }
  // A profile has an update of each part.
  if (e.parts > 1 && !options_.values && timeline_ == nullptr &&
      t.exchange < 0 && SignalTogether(t, e.parts)) {
    parts_under_way_ -= e.parts;
    t.parts_left -= e.parts;
    if (t.parts_left == 0) EndTransfer(e.transfer);
    return absl::OkStatus();
  }
  for (int32_t p = e.part; p < e.part + e.parts; ++p) {
    absl::Status status = FinishPart(e.transfer, p);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace trnemu
