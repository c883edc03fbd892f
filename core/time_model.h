// What an instruction costs: a pure function of its decoded operands and the
// hardware description (spec/timing.md 1.3, 1.4, 2.2; docs/timing.md).
#ifndef TRNEMU_CORE_TIME_MODEL_H_
#define TRNEMU_CORE_TIME_MODEL_H_

#include <array>
#include <span>

#include "core/engines/dma.h"
#include "core/execution.h"
#include "core/run.h"
#include "isa/hardware.h"

namespace trnemu {

struct Cost {
  Ticks issue = 0;       // until the engine may start its next instruction
  Ticks completion = 0;  // until results are written and signals given
  // issue is issue_fixed + max(issue_least, stream); throttling stretches
  // stream, and of completion the array's part.
  Ticks issue_fixed = 0, issue_least = 0, stream = 0, array = 0;
  // A vector transpose: the least from the start of one of other quadrants.
  Ticks quadrant_change = 0;

  // Of an instruction that runs while the array is throttled.
  void Stretch(double factor);
};

// Who makes a DMA's descriptors.
enum class Generation : uint8_t { kHardware, kSoftware, kStatic };

struct DmaCost {
  Ticks trigger = 0;  // busy time of the triggering sequencer
  Ticks start = 0;    // from the trigger to the payload
  Ticks spacing = 0;  // between the payloads of one generator's transfers
  Ticks notify = 0;   // from a part's last byte to its signals
  double rate = 1;    // share of the copy rate
  int hbm_sides = 0;  // reads or writes of HBM a byte makes
  Generation generation = Generation::kStatic;
  int generator = 0;  // of kHardware: which
  const DmaLaw* law = nullptr;
};

// The row of the cost table that applies to an instruction, and what of the
// instruction goes into it (isa/hardware.h, CostLaw).
struct AppliedLaw {
  const CostLaw* law = nullptr;  // null: there is none
  double elements = 0;           // n: those that it counts
  double strided = 0;            // m: with what strides add
  double wide_ns = 0;            // wide strides, of all elements
  double extra_ns = 0;           // tensors as scale and bias
};

// Of a part of a transfer.
struct DmaPartTime {
  Ticks busy = 0;     // how long it keeps its DMA engine
  Ticks payload = 0;  // first to last byte with the engine to itself; >= busy
};

// From HBM or chip to HBM or chip: what selects a transfer's law.
DmaDirection DirectionOf(const Tile& dst, const Tile& src);

class TimeModel {
 public:
  // Keeps a reference.
  explicit TimeModel(const Hardware& hardware);

  // `known`: facts that the instruction alone does not show, as the hint of
  // the tile that a multiplication uses.
  AppliedLaw LawOf(Opcode opcode, const ExecuteArgs& args,
                   CostFacts known = 0) const;
  Cost CostOf(Opcode opcode, const ExecuteArgs& args,
              CostFacts known = 0) const;
  // The table load that an activation function needs.
  Ticks TableLoad() const { return table_load_; }
  DmaCost CostOfDma(const DmaTransfer& transfer, Engine trigger,
                    DgeMode mode) const;
  // Of a copy.
  DmaCost CostOfDma(const Tile& dst, const Tile& src, Engine trigger) const;
  // `hbm_rate`: what the stack gives it (core/hbm_share.h). `packet_bytes`:
  // what a descriptor moves at most; 0: the hardware's.
  DmaPartTime TimeOfDmaPart(const DmaCost& cost, const DmaShape& shape,
                            double hbm_rate, int64_t packet_bytes = 0) const;
  // Reads and writes of HBM a ns, of parts like this on all engines.
  double HbmRateOf(const DmaCost& cost, const DmaShape& shape,
                   const DmaPartTime& time) const;
  Ticks hand_off() const { return hand_off_; }

 private:
  struct Rows {
    std::span<const CostLaw> laws;
    CostFacts asked = 0;  // the facts that a row asks for
  };
  const Rows& RowsOf(Opcode opcode, Engine engine) const {
    return rows_[static_cast<size_t>(opcode)][static_cast<size_t>(engine)];
  }
  void SetGeneration(const DmaTransfer* transfer, Engine trigger, DgeMode mode,
                     DmaCost& cost) const;
  const Hardware& hardware_;
  std::array<std::array<Rows, 7>, kNumOpcodes> rows_;
  Ticks table_load_ = 0;
  Ticks hand_off_ = 0;
};

// A run that comes to kLongestTime, 77 minutes, stops (limit.simulated_time);
// so does one with a cost of kLongestCost, 4.8 minutes, which no cost exceeds:
// sums stay within an integer.
inline constexpr Ticks kLongestTime = Ticks{1} << 62;
inline constexpr Ticks kLongestCost = Ticks{1} << 58;

inline Ticks Saturated(double ticks) {
  return ticks < static_cast<double>(kLongestCost) ? static_cast<Ticks>(ticks)
                                                   : kLongestCost;
}
inline Ticks ToTicks(double ns) { return Saturated(ns * kTicksPerNs + 0.5); }

}  // namespace trnemu

#endif  // TRNEMU_CORE_TIME_MODEL_H_
