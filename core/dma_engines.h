// The DMA engines of a core in simulated time.
//
// An engine takes turns between its queues, a packet each; here the queues
// with something to do share it at every instant, in the proportion of their
// packets, which packets approach as they get small. Within a queue parts go one after the other.
// Parts that come later can only delay others: what is said of one part is
// corrected when another joins.
#ifndef TRNEMU_CORE_DMA_ENGINES_H_
#define TRNEMU_CORE_DMA_ENGINES_H_

#include <cstdint>
#include <vector>

#include "core/run.h"

namespace trnemu {

// Queues of a queue set, one for each of 16 engines at most, and of an engine.
inline constexpr uint32_t kDmaQueues = 16;

// A part of a transfer, as the engines know it.
struct DmaJob {
  int64_t transfer = -1;
  int32_t part = 0;
  uint32_t queue = 0;  // of all queues of all queue sets
  Ticks start = 0;     // not before
  Ticks busy = 0;      // how long it needs the engine
  Ticks extra = 0;     // from the engine's last moment to its signals
  // Its queue's share of the engine beside others: bytes of a packet, of
  // which the engine takes one of each queue in turn. 64 KiB of collectives
  // are worth 16 packets of compute's 4 KiB.
  Ticks weight = 1;
};

class DmaEngines {
 public:
  // When an engine does what. A part that shares its engine is served from
  // `taken` to `end`, slower than alone, without a pause.
  struct Times {
    Ticks taken = 0;  // it is at the head of its queue, and may start
    Ticks end = 0;    // the engine is done with it
    Ticks done = 0;   // it has signalled
  };
  // Of a part that is now done later than was said, or at other times.
  struct Delay {
    int64_t transfer = -1;
    int32_t part = 0;
    Times times;
  };

  explicit DmaEngines(size_t engines) : engines_(engines) {}
  size_t size() const { return engines_.size(); }
  // The one that does the parts of this number.
  size_t Of(int32_t part) const {
    const auto p = static_cast<size_t>(part);
    return p < engines_.size() ? p : p % engines_.size();
  }

  // Adds a part at time `now`, which must not fall between calls for one
  // engine, and says when it is done: in the order of its queue. `delays` gets
  // those whose times change.
  Times Add(size_t engine, Ticks now, const DmaJob& job,
            std::vector<Delay>& delays);

  // Adds a part to each engine, alike but for their numbers: part p, of queue
  // job.queue + p, to engine p. Gives false, and does nothing, if the engines
  // do not stand alike; else `times` are those of each. A delay is of every
  // part of its transfer, and names the first.
  bool AddToEach(Ticks now, const DmaJob& job, Times& times,
                 std::vector<Delay>& delays);

 private:
  struct Running : DmaJob {
    Ticks left = 0;  // of busy, at OneEngine::at
    Times times;
  };
  struct OneEngine {
    std::vector<Running> jobs;  // by arrival
    Ticks at = 0;
    bool shared = false;  // by jobs of several queues
  };
  // Moves `at` on to `until`, or to where nothing is left, serving.
  static void Serve(std::vector<Running>& jobs, Ticks& at, Ticks until);
  // Serves what comes before `now` and drops what is finished.
  static void Advance(OneEngine& engine, Ticks now);
  static Times Append(OneEngine& engine, Running job);
  Times AddTo(OneEngine& engine, Ticks now, const DmaJob& job,
              std::vector<Delay>& delays);
  // Gives each engine its own jobs: from now on they differ.
  void Separate();
  Times Share(OneEngine& engine, const Running& job,
              std::vector<Delay>& delays);

  std::vector<OneEngine> engines_;
  // All engines stand as the first, whose jobs have the numbers of its parts
  // and queues; the others' entries mean nothing.
  bool alike_ = true;
  std::vector<Running> scratch_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_DMA_ENGINES_H_
