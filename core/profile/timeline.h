// What a run in timed order did and when: one record an instruction that
// retired, a part of a DMA and a change of a semaphore.
//
// The runner fills it as it goes (RunOptions::timeline); everything that
// profiles say follows from it afterwards (core/profile/report.h). Each
// iteration of a loop has records of its own. Vectors grow, nothing else is
// allocated.
#ifndef TRNEMU_CORE_PROFILE_TIMELINE_H_
#define TRNEMU_CORE_PROFILE_TIMELINE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "core/run.h"
#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

// Instructions, parts and updates are named by their index, -1 for none.
struct InstructionRecord {
  const Instruction* instruction = nullptr;  // of the program
  Ticks ready = 0;      // when its engine could have started it
  Ticks start = 0;      // later than ready: a semaphore held it
  Ticks issue_end = 0;  // when its engine was free for the next; <= the end
  Ticks end = 0;        // when its results and signals were there
  Ticks extra = 0;      // of the issue interval: a table load, or throttling
  // The change of a semaphore that its waits needed last. It held the
  // instruction if `waited`.
  int32_t update = -1;
  uint8_t core = 0;

  bool waited() const { return update >= 0 && start > ready; }
};

struct DmaRecord {
  int32_t instruction = -1;  // the trigger
  Ticks trigger = 0;         // when that started
  Ticks payload_from = 0;    // when the bytes could have gone
  // When its DMA engine took it up, and was done with it; it is at work on it
  // all the time, shared evenly with the parts of other queues that it has.
  Ticks start = 0;
  Ticks free = 0;
  Ticks busy = 0;    // the engine's own time for it
  Ticks end = 0;     // of the payload
  Ticks notify = 0;  // when its signals were given
  int64_t bytes = 0;
  int64_t hbm_read = 0, hbm_written = 0;  // bytes
  int32_t descriptors = 0;  // runs that lie one after the other on both sides
  uint16_t queue_set = 0;
  uint8_t queue = 0;   // of the set
  uint8_t engine = 0;  // of the core's 16
  uint8_t core = 0;
  DmaDirection direction = DmaDirection::kLoad;
};

struct SemaphoreRecord {
  Ticks time = 0;
  int32_t semaphore = 0;
  int32_t value = 0;         // afterwards
  int32_t instruction = -1;  // that signalled, triggered the DMA, or took
  int32_t dma = -1;          // the part that signalled
  int32_t previous = -1;     // update of the same semaphore
  SignalOp op = SignalOp::kAdd;
  SignalAt at = SignalAt::kComplete;
  bool take = false;  // a wait consumed it
};

class Timeline {
 public:
  // About 90 bytes each; more than that is a fault (limit.profile_records).
  static constexpr int64_t kDefaultLimit = 8'000'000;

  explicit Timeline(int64_t limit = kDefaultLimit) : limit_(limit) {}

  const std::vector<InstructionRecord>& instructions() const {
    return instructions_;
  }
  const std::vector<DmaRecord>& dma() const { return dma_; }
  const std::vector<SemaphoreRecord>& updates() const { return updates_; }

  // The runner's calls, in the order in which things happen. Before all:
  void Begin(const Program& program);
  // Instructions and parts are too many.
  absl::Status CheckLimit() const;
  // The index of the instruction that takes effect next.
  int32_t next_instruction() const {
    return static_cast<int32_t>(instructions_.size());
  }
  // The instruction that takes effect next needs a value of a semaphore, and
  // may consume it.
  void Needs(uint32_t semaphore, int64_t value);
  void Takes(uint32_t semaphore, int64_t value, Ticks time);
  // It has taken effect; `record.update` is filled in here.
  void Add(InstructionRecord record);
  int32_t Add(const DmaRecord& record);
  // Who gives the updates that follow.
  void FromInstruction(size_t core,
                       Engine engine);  // the first that has yet to
  // The part is done; later than was foreseen, if others made it wait.
  void FromPart(int32_t dma, Ticks time);
  // Its engine takes it up, and is done with it, at other times than was
  // foreseen, as parts of other queues have come.
  void Move(int32_t dma, Ticks start, Ticks free);
  void Update(const Signal& signal, int64_t value, Ticks time);
  // The run is over then: no issue interval goes on.
  void End(Ticks end);
  // The last update let the engine's next instruction go.
  void Woke(size_t core, Engine engine);

 private:
  static size_t IndexOf(size_t core, Engine engine) {
    return core * 8 + static_cast<size_t>(engine);
  }
  void Append(SemaphoreRecord record);

  int64_t limit_;
  std::vector<InstructionRecord> instructions_;
  std::vector<DmaRecord> dma_;
  std::vector<SemaphoreRecord> updates_;
  std::vector<int32_t> last_update_;                  // by semaphore
  std::vector<std::deque<int32_t>> signals_to_come_;  // by sequencer
  std::vector<int32_t> woke_;  // by sequencer: the update
  int32_t needed_ = -1;        // by the next instruction
  int32_t from_instruction_ = -1, from_dma_ = -1;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_TIMELINE_H_
