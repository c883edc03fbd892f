// Random order: any legal interleaving, by seed.
//
// A choice is a sequencer whose waits hold, or a queue with a part at its head.
// A part is two steps: it reads its source and fires its at="read" signals;
// later it writes and fires those of its completion. Parts of one queue keep
// their order, step by step, as on the device.
//
// Uniform choices keep all engines at about the same place, where most missing
// waits do no harm. So each sequencer and queue has a speed of its own, drawn
// from the seed, and how different the speeds are is drawn too.
#include "core/runner.h"

namespace trnemu {

void Runner::DrawSpeeds() {
  // Equal speeds, or up to 32, 1024 or 32768 times as fast as the slowest.
  const uint64_t spread = random_.Below(4);
  speeds_.resize(sequencers_.size() + pending_parts_.size());
  for (uint64_t& speed : speeds_) {
    speed = uint64_t{1} << (random_.Below(6) * spread);
  }
}

void Runner::FindChoices() {
  choices_.clear();
  for (size_t i = 0; i < sequencers_.size(); ++i) {
    const Sequencer& s = sequencers_[i];
    if (!s.done() && WaitsHold(s)) choices_.push_back(i);
  }
  for (size_t q = 0; pending_count_ > 0 && q < pending_parts_.size(); ++q) {
    if (HeadIsReady(q)) choices_.push_back(sequencers_.size() + q);
  }
}

absl::Status Runner::StepQueue(size_t queue) {
  const auto [transfer, part] = pending_parts_[queue].front();
  if (transfers_[transfer].exchange >= 0) {
    TakeHead(queue);
    return FinishPart(transfer, part);
  }
  std::unique_ptr<StagedPart>& staged = staged_parts_[queue];
  if (staged == nullptr) staged = std::make_unique<StagedPart>();
  if (!staged->has_read) return ReadPart(transfer, part, *staged);
  TakeHead(queue);
  staged->has_read = false;
  return FinishPart(transfer, part, staged.get());
}

absl::Status Runner::RunRandom() {
  if (speeds_.empty()) DrawSpeeds();
  for (;;) {
    if (chosen_ != nullptr) {
      absl::Status status = Step(*chosen_);
      if (!status.ok() || paused_) return status;
    }
    FindChoices();
    if (choices_.empty()) return Deadlock();
    uint64_t total = 0;
    for (const size_t choice : choices_) total += speeds_[choice];
    uint64_t at = random_.Below(total);
    size_t n = 0;
    while (at >= speeds_[choices_[n]]) at -= speeds_[choices_[n++]];
    const size_t choice = choices_[n];
    if (choice < sequencers_.size()) {
      chosen_ = &sequencers_[choice];
      Prepare(*chosen_);
      continue;
    }
    absl::Status status = StepQueue(choice - sequencers_.size());
    if (!status.ok() || paused_) return status;
  }
}

}  // namespace trnemu
