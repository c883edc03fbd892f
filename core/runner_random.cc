// Random order: any legal interleaving, by seed.
//
// A choice is a sequencer whose waits hold, or a queue with a part at its head.
// A part is two steps: it reads its source and fires its at="read" signals;
// later it writes and fires those of its completion. Parts of one queue keep
// their order, step by step, as on the device.
//
// Uniform choices keep all engines at about the same place, where most missing
// waits do no harm. So each sequencer and queue has a speed of its own, drawn
// from the seed, and how different the speeds are is drawn too, up to where the
// fastest that can go on nearly always goes first. Where the speeds are equal,
// one that could go on is held for a while now and then, as long as another one
// can go on: it is late once, wherever in the program that is.
#include <algorithm>
#include <iterator>

#include "core/runner.h"

namespace trnemu {
namespace {

// A speed is 2 to the power of up to 4 times one of these: in half of the
// orders they are equal. Not more than a million: what looks at memory again
// and again must not do so for ever.
constexpr uint64_t kSpreads[] = {0, 0, 3, 5};
constexpr uint64_t kSpeeds = 5;
// With equal speeds one step in so many is held.
constexpr uint64_t kHolds[] = {2, 4, 16};
// For up to 2 steps, or 4, and so on up to 2 to this power.
constexpr uint64_t kLongestHold = 12;

}  // namespace

void Runner::DrawSpeeds() {
  const uint64_t spread = kSpreads[random_.Below(std::size(kSpreads))];
  speeds_.resize(sequencers_.size() + pending_parts_.size());
  for (uint64_t& speed : speeds_) {
    speed = uint64_t{1} << (random_.Below(kSpeeds) * spread);
  }
  if (spread == 0) hold_one_in_ = kHolds[random_.Below(std::size(kHolds))];
  held_to_.resize(speeds_.size());
}

// Leaves out of the choices what is held, unless nothing else is left; what is
// left is held only if it is not the last one.
void Runner::HoldChoices() {
  if (hold_one_in_ == 0) return;
  ++picks_;
  const auto is_held = [this](size_t choice) {
    return held_to_[choice] > picks_;
  };
  if (!std::all_of(choices_.begin(), choices_.end(), is_held)) {
    std::erase_if(choices_, is_held);
  }
  if (choices_.size() < 2 || random_.Below(hold_one_in_) != 0) return;
  const size_t n = random_.Below(choices_.size());
  const uint64_t longest = uint64_t{2} << random_.Below(kLongestHold);
  held_to_[choices_[n]] = picks_ + 1 + random_.Below(longest);
  choices_.erase(choices_.begin() + static_cast<ptrdiff_t>(n));
}

// One of the choices, by their speeds.
size_t Runner::Choose() {
  uint64_t total = speeds_[choices_[0]];
  for (size_t i = 1; i < choices_.size(); ++i) total += speeds_[choices_[i]];
  uint64_t at = random_.Below(total);
  size_t n = 0;
  while (at >= speeds_[choices_[n]]) at -= speeds_[choices_[n++]];
  return choices_[n];
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
    HoldChoices();
    const size_t choice = Choose();
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
