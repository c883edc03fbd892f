// Phase one of Synchronise: which instructions wait for which.
#ifndef TRNEMU_ISA_PASSES_DEPENDENCES_H_
#define TRNEMU_ISA_PASSES_DEPENDENCES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isa/passes/lanes.h"
#include "isa/program.h"

namespace trnemu {

// Instruction i waits for waits[first_wait[i]] to waits[first_wait[i + 1] - 1],
// at most one event of a lane. Everything else it depends on is implied by
// these, by the order of its engine, or by what its engine knows already.
struct Dependences {
  explicit Dependences(Lanes l) : lanes(std::move(l)), clocks(lanes) {}

  std::span<const Event> WaitsOf(size_t instruction) const {
    return {waits.data() + first_wait[instruction],
            waits.data() + first_wait[instruction + 1]};
  }

  Lanes lanes;
  VectorClocks clocks;  // of all instructions, with these waits
  std::vector<Event> waits;
  std::vector<size_t> first_wait;
};

// `instructions` are core `core`'s, in program order, straight-line; tiles
// have their addresses. HBM that the core never writes orders nothing.
Dependences FindDependences(const Program& program, uint32_t core,
                            std::span<const Instruction> instructions);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_DEPENDENCES_H_
