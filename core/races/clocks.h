// Vector clocks: how far each lane of a run is known to be complete.
//
// A lane is a sequence of completions in order: the instructions of one
// sequencer, or the DMA parts of one queue. Everything else is ordered by
// semaphores only.
#ifndef TRNEMU_CORE_RACES_CLOCKS_H_
#define TRNEMU_CORE_RACES_CLOCKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "isa/program.h"

namespace trnemu {

// By lane: the number of its completions that are known.
using Clock = std::span<const uint32_t>;

// Completion `sequence`, counted from 1, of each of `lanes` lanes from `lane`
// on: an instruction, or all parts of a DMA. A part completes twice, once when
// it has read its source (odd) and once when it has written.
struct Work {
  uint32_t lane = 0;
  uint32_t lanes = 1;
  uint32_t sequence = 0;

  bool KnownBy(Clock clock) const {
    for (uint32_t i = 0; i < lanes; ++i) {
      if (clock[lane + i] < sequence) return false;
    }
    return true;
  }
  bool operator==(const Work&) const = default;
};

// The lanes of a program: its sequencers, five a core, then 16 queues for each
// queue set.
class RaceLanes {
 public:
  static constexpr uint32_t kQueues = 16;
  explicit RaceLanes(const Program& program)
      : sequencers_(
            static_cast<uint32_t>(program.cores.size() * kSequencers.size())),
        size_(sequencers_ +
              static_cast<uint32_t>(program.queue_sets.size()) * kQueues) {}

  uint32_t sequencers() const { return sequencers_; }
  uint32_t size() const { return size_; }
  uint32_t FirstOfQueues(uint32_t queue_set) const {
    return sequencers_ + queue_set * kQueues;
  }

 private:
  uint32_t sequencers_;
  uint32_t size_;
};

// Clocks that several hold on to, counted.
class ClockStore {
 public:
  explicit ClockStore(uint32_t lanes) : lanes_(lanes) {}

  // A copy, with one reference.
  uint32_t Add(Clock clock);
  void Retain(uint32_t id) { ++references_[id]; }
  void Release(uint32_t id) {
    if (--references_[id] == 0) free_.push_back(id);
  }
  Clock at(uint32_t id) const {
    return {words_.data() + size_t{id} * lanes_, lanes_};
  }

 private:
  const uint32_t lanes_;
  std::vector<uint32_t> words_;
  std::vector<uint32_t> references_;
  std::vector<uint32_t> free_;
};

// clock = max(clock, other), lane by lane.
void Join(std::span<uint32_t> clock, Clock other);

}  // namespace trnemu

#endif  // TRNEMU_CORE_RACES_CLOCKS_H_
