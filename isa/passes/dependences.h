// Phase one of Synchronise: which instructions wait for which.
#ifndef TRNEMU_ISA_PASSES_DEPENDENCES_H_
#define TRNEMU_ISA_PASSES_DEPENDENCES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isa/passes/accesses.h"
#include "isa/passes/footprint.h"
#include "isa/passes/lanes.h"
#include "isa/passes/level.h"
#include "isa/program.h"

namespace trnemu {

// Item i waits for waits[first_wait[i]] to waits[first_wait[i + 1] - 1], at
// most one event of a lane and iteration. Everything else it depends on is
// implied by these, by the order of its engine, or by what its engine knows
// already.
struct Dependences {
  explicit Dependences(Lanes l) : lanes(std::move(l)), clocks(lanes) {}

  std::span<const Event> WaitsOf(size_t item) const {
    return {waits.data() + first_wait[item],
            waits.data() + first_wait[item + 1]};
  }

  Lanes lanes;
  VectorClocks clocks;  // of all items, with these waits
  std::vector<Event> waits;
  std::vector<size_t> first_wait;
};

// What a core's instructions do with a tensor. HBM that the core never writes
// orders nothing.
struct TensorUse {
  bool written = false;
  PitchVote rows;  // HBM
};
std::vector<TensorUse> FindUses(const Draft& draft, uint32_t core);

// `level` is core `core`'s, tiles have their addresses.
Dependences FindDependences(const Draft& draft, uint32_t core,
                            const std::vector<TensorUse>& uses,
                            const Level& level);

// The same of two iterations of a loop's body, one after the other: items
// 0 to n - 1 are the first, n to 2n - 1 the second. A DMA of the second waits
// for itself of the first, or knows it complete, so that a semaphore counts
// one DMA at a time. Where `forced` says so it waits even if it knows.
Dependences FindLoopDependences(const Draft& draft, uint32_t core,
                                const std::vector<TensorUse>& uses,
                                const Level& level,
                                const std::vector<bool>& forced);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_DEPENDENCES_H_
