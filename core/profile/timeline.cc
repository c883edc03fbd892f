#include "core/profile/timeline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

// How far back the update that a wait needed is looked for. Further back it no
// longer matters: the instruction could have started long ago.
constexpr int kLookBack = 64;

}  // namespace

void Timeline::Begin(const Program& program) {
  instructions_.clear();
  dma_.clear();
  updates_.clear();
  last_update_.assign(program.semaphores.size(), -1);
  const size_t sequencers = program.cores.size() * 8;
  signals_to_come_.assign(sequencers, {});
  woke_.assign(sequencers, -1);
  needed_ = from_instruction_ = from_dma_ = -1;
  instructions_.reserve(static_cast<size_t>(
      std::min<int64_t>(program.num_instructions(), limit_)));
}

absl::Status Timeline::CheckLimit() const {
  if (static_cast<int64_t>(instructions_.size() + dma_.size()) <= limit_) {
    return absl::OkStatus();
  }
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "limit.profile_records";
  d.message = absl::StrCat(
      "a profile keeps one record of every instruction "
      "and DMA part that a run executes, and the limit is ",
      limit_);
  d.details = {{"limit", absl::StrCat(limit_)}};
  d.remedy =
      "profile fewer iterations, as all are alike in time, or raise the limit "
      "with --max-records N (max_records=N); a million take about 90 MB";
  return ToStatus(std::move(d));
}

void Timeline::Needs(uint32_t semaphore, int64_t value) {
  // The first of the last updates after which the value was never too small.
  int32_t update = last_update_[semaphore], found = -1;
  for (int i = 0; update >= 0; ++i) {
    const SemaphoreRecord& u = updates_[static_cast<size_t>(update)];
    if (u.value < value) break;
    if (i == kLookBack) return;
    if (!u.take) found = update;
    update = u.previous;
  }
  needed_ = std::max(needed_, found);
}

void Timeline::Append(SemaphoreRecord record) {
  int32_t& last = last_update_[static_cast<size_t>(record.semaphore)];
  record.previous = last;
  last = static_cast<int32_t>(updates_.size());
  updates_.push_back(record);
}

void Timeline::Takes(uint32_t semaphore, int64_t value, Ticks time) {
  SemaphoreRecord record;
  record.time = time;
  record.semaphore = static_cast<int32_t>(semaphore);
  record.value = static_cast<int32_t>(value);
  record.instruction = next_instruction();
  record.op = SignalOp::kSub;
  record.take = true;
  Append(record);
}

void Timeline::Add(InstructionRecord record) {
  const Instruction& i = *record.instruction;
  const size_t at = IndexOf(record.core, i.engine);
  record.update = woke_[at] >= 0 ? woke_[at] : needed_;
  woke_[at] = needed_ = -1;
  if (i.num_signals > 0 && !Info(i.opcode).dma) {
    signals_to_come_[at].push_back(next_instruction());
  }
  instructions_.push_back(record);
}

int32_t Timeline::Add(const DmaRecord& record) {
  dma_.push_back(record);
  return static_cast<int32_t>(dma_.size()) - 1;
}

void Timeline::FromInstruction(size_t core, Engine engine) {
  auto& queue = signals_to_come_[IndexOf(core, engine)];
  from_dma_ = -1;
  from_instruction_ = queue.front();
  queue.pop_front();
}

void Timeline::FromPart(int32_t dma, Ticks time) {
  DmaRecord& record = dma_[static_cast<size_t>(dma)];
  record.notify = std::max(record.notify, time);
  from_dma_ = dma;
  from_instruction_ = record.instruction;
}

void Timeline::Move(int32_t dma, Ticks start, Ticks free) {
  DmaRecord& record = dma_[static_cast<size_t>(dma)];
  record.start = start;
  record.end += free - record.free;
  record.free = free;
}

void Timeline::Update(const Signal& signal, int64_t value, Ticks time) {
  SemaphoreRecord record;
  record.time = time;
  record.semaphore = static_cast<int32_t>(signal.semaphore);
  record.value = static_cast<int32_t>(value);
  record.instruction = from_instruction_;
  record.dma = from_dma_;
  record.op = signal.op;
  record.at = signal.at;
  Append(record);
}

void Timeline::End(Ticks end) {
  for (InstructionRecord& r : instructions_) {
    if (r.issue_end <= end) continue;
    r.issue_end = std::max(r.start, end);
    r.extra = std::min(r.extra, r.issue_end - r.start);
  }
}

void Timeline::Woke(size_t core, Engine engine) {
  woke_[IndexOf(core, engine)] = static_cast<int32_t>(updates_.size()) - 1;
}

}  // namespace trnemu
