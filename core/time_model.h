// What an instruction costs: a pure function of its decoded operands and the
// hardware description (spec/timing.md 1.3, 1.4, 2.2).
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
  // The part of completion that throttling does not stretch.
  Ticks completion_fixed = 0;
};

struct DmaCost {
  Ticks trigger = 0;  // busy time of the triggering sequencer
  Ticks start = 0;    // from the trigger to the payload
  Ticks spacing = 0;  // between the payloads of one trigger's transfers
  Ticks notify = 0;   // from a part's last byte to its signals
  Ticks fixed = 0;    // of a part, besides its bytes
  double rate = 1;    // share of the copy rate
  const DmaLaw* law = nullptr;
};

// The row of the cost table that applies to an instruction, for reports.
struct AppliedLaw {
  const CostLaw* law = nullptr;  // null: there is none
  double count = 0;              // the elements that it counts
  double extra_ns = 0;           // for tensors as scale and bias
};

class TimeModel {
 public:
  // Keeps a reference.
  explicit TimeModel(const Hardware& hardware);

  AppliedLaw LawOf(Opcode opcode, const ExecuteArgs& args) const;
  Cost CostOf(Opcode opcode, const ExecuteArgs& args) const;
  // The table load that an activation function needs.
  Ticks TableLoad() const { return table_load_; }
  DmaCost CostOfDma(const DmaTransfer& transfer, Engine trigger) const;
  // Of a copy.
  DmaCost CostOfDma(const Tile& dst, const Tile& src, Engine trigger) const;
  // How long a part keeps its DMA engine busy.
  Ticks BusyOfDmaPart(const DmaCost& cost, const DmaShape& shape) const;
  Ticks hand_off() const { return hand_off_; }

 private:
  std::span<const CostLaw> Laws(Opcode opcode, Engine engine) const {
    return laws_[static_cast<size_t>(opcode)][static_cast<size_t>(engine)];
  }
  const Hardware& hardware_;
  std::array<std::array<std::span<const CostLaw>, 7>, kNumOpcodes> laws_;
  Ticks table_load_ = 0;
  Ticks hand_off_ = 0;
};

inline Ticks ToTicks(double ns) {
  return static_cast<Ticks>(ns * kTicksPerNs + 0.5);
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_TIME_MODEL_H_
