// What completes in order on a core, and what its engines know of it: vector
// clocks, for Synchronise.
#ifndef TRNEMU_ISA_PASSES_LANES_H_
#define TRNEMU_ISA_PASSES_LANES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/passes/level.h"
#include "isa/program.h"

namespace trnemu {

// A lane is a sequence of completions in order: the instructions of an engine
// (lanes numbered as Engine), or the DMAs an engine triggers on one queue set
// (from kFirstDmaLane): part i of a DMA goes after part i of the one before it,
// so a DMA is complete only when those before it are.
inline constexpr uint32_t kFirstDmaLane = 7;

// The `sequence`-th completion of a lane, counted from 1.
struct Event {
  uint32_t lane = 0;
  uint32_t sequence = 0;
  bool operator==(const Event&) const = default;
};

struct LaneInfo {
  Engine engine = Engine::kUnknown;  // its own or the triggering one
  uint32_t queue_set = 0;            // DMA lanes
  uint32_t queues = 0;               // DMA lanes
  bool is_dma() const { return queues > 0; }
};

// The lanes that instructions use, and the event of each instruction.
struct Lanes {
  // Of `iterations` passes over the items of `level`, whose instructions are
  // of core `core`.
  Lanes(const Program& program, uint32_t core,
        std::span<const Instruction> instructions, const Level& level,
        size_t iterations);

  std::vector<LaneInfo> info;
  std::vector<Event> events;  // of each item
};

// The latest event of each lane that an instruction depends on.
class Needs {
 public:
  explicit Needs(size_t lanes) : latest_(lanes) {}

  void Require(Event event) {
    uint32_t& latest = latest_[event.lane];
    if (latest == 0) touched_.push_back(event.lane);
    latest = std::max(latest, event.sequence);
  }
  // Calls take(Event) for each lane, lowest first, and forgets them.
  template <typename Take>
  void Drain(Take take) {
    std::sort(touched_.begin(), touched_.end());
    for (uint32_t lane : touched_) {
      take(Event{lane, latest_[lane]});
      latest_[lane] = 0;
    }
    touched_.clear();
  }

 private:
  std::vector<uint32_t> latest_;   // by lane; 0: none
  std::vector<uint32_t> touched_;  // lanes
};

// For each engine, how far it knows each lane to be complete. Instructions are
// entered in program order: Wait for each thing they wait for, then Issue.
// What an engine knew when it issued an instruction is known to whoever knows
// the instruction complete, as is all that the engine issued before (DMAs
// excepted, which are lanes of their own).
class VectorClocks {
 public:
  explicit VectorClocks(const Lanes& lanes);

  bool Knows(Engine engine, Event event) const {
    return clock(engine)[event.lane] >= event.sequence;
  }
  // The same of what `engine` knew when it issued `issued`.
  bool KnewAt(Event issued, Event event) const;
  // Knowing `later` complete means that `earlier` is.
  bool Implies(Event later, Event earlier) const;
  void Wait(Engine engine, Event event);
  void Issue(Engine engine, Event event);

 private:
  struct Issued {
    size_t snapshot = 0;           // index into snapshots_
    uint32_t engine_sequence = 0;  // of its engine's own lane, then
  };
  using Clock = std::vector<uint32_t>;  // by lane

  const Clock& clock(Engine e) const { return clocks_[static_cast<size_t>(e)]; }
  const Issued& At(Event event) const {
    return issued_[event.lane][event.sequence - 1];
  }

  std::vector<Engine> engine_of_;  // by lane
  std::array<Clock, kFirstDmaLane> clocks_;
  std::array<size_t, kFirstDmaLane> current_{};  // the snapshot in force
  std::array<bool, kFirstDmaLane> changed_{};    // since that snapshot
  std::vector<uint32_t> snapshots_;              // clocks, one after the other
  std::vector<std::vector<Issued>> issued_;      // by lane
};

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_LANES_H_
