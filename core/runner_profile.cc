// The runner's side of profiles (core/profile/timeline.h).
#include "core/profile/timeline.h"
#include "core/runner.h"

namespace trnemu {
// `busy` is the engine's busy time before the instruction.
absl::Status Runner::RecordStep(const Sequencer& s, Ticks busy) {
  const Ticks issue =
      profile_.engines[static_cast<size_t>(s.engine)].busy - busy;
  InstructionRecord record;
  record.instruction = s.next;
  record.ready = s.ready;
  record.start = s.earliest;
  record.issue_end = s.earliest + issue;
  record.end = s.last_completion;
  // What the operands do not account for.
  if (!Info(s.next->opcode).dma && issue > s.cost.issue) {
    record.extra = issue - s.cost.issue;
  }
  record.core = static_cast<uint8_t>(s.core);
  timeline_->Add(record);
  absl::Status status = timeline_->CheckLimit();
  return status.ok() ? status : Locate(status, s.core, *s.next);
}

// What the records of a transfer's and of an exchange's parts share.
void Runner::AddRecord(Transfer& t, DmaRecord record, size_t core, size_t part,
                       const DmaShape& shape, const PartTimes& times) {
  record.payload_from = times.payload_from;
  record.start = times.start;
  record.busy = times.busy;
  record.free = times.free;
  record.end = times.end;
  record.notify = times.notify;
  record.bytes = shape.bytes;
  record.descriptors = static_cast<int32_t>(shape.rows);
  record.queue = static_cast<uint8_t>(part);
  record.engine = static_cast<uint8_t>(part % dma_engines_[0].size());
  record.core = static_cast<uint8_t>(core);
  const int32_t row = timeline_->Add(record);
  if (t.record < 0) t.record = row;
}

void Runner::RecordPart(Transfer& t, size_t part, const DmaShape& shape,
                        const PartTimes& times) {
  DmaRecord record;
  // The trigger's own record follows.
  record.instruction = timeline_->next_instruction();
  record.trigger = t.trigger;
  record.queue_set = static_cast<uint16_t>(
      program_.cores[t.core]
          .AttributesOf(*t.instruction)[slot::DmaCopy::kQueueSet]
          .integer());
  record.direction = DirectionOf(t.dma.dst.tile, t.dma.srcs[0].tile);
  if (shape.bytes > 0) {
    const HbmBytes hbm = HbmBytesOf(t.dma, t.parts[part]);
    record.hbm_read = hbm.read;
    record.hbm_written = hbm.written;
  }
  AddRecord(t, record, t.core, part, shape, times);
}

void Runner::RecordExchangePart(Transfer& t, size_t core, size_t part,
                                const DmaShape& shape, const PartTimes& times) {
  const ExchangeEnd& end = exchanges_.at(t.exchange).ends[core];
  DmaRecord record;
  record.instruction = end.record;
  record.trigger = end.trigger;
  record.queue_set = static_cast<uint16_t>(end.queue_set);
  record.direction = DmaDirection::kOnChip;
  AddRecord(t, record, core, part, shape, times);
}

void Runner::SignalsComeFrom(const Transfer& t, int32_t part, size_t end) {
  if (timeline_ == nullptr) return;
  timeline_->FromPart(RecordOf(t, part, end), now_);
}

}  // namespace trnemu
