// Addresses for tiles in one memory of one core.
#ifndef TRNEMU_ISA_PASSES_PLACEMENT_H_
#define TRNEMU_ISA_PASSES_PLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trnemu {

// A tile while it is live: from instruction `first` to `last`, both included.
struct LiveTile {
  uint32_t tensor = 0;  // index into Program::tensors
  uint32_t first = 0;
  uint32_t last = 0;
  int64_t size = 0;       // bytes per partition
  int64_t alignment = 1;  // that it must have
  int64_t address = 0;    // result; given for obstacles

  bool Meets(const LiveTile& other) const {
    return first <= other.last && other.first <= last;
  }
};

struct Region {
  int64_t size = 0;  // bytes per partition that may be used
  // 0: none. A tile of at most a bank lies in one, a larger one starts one.
  int64_t bank = 0;
};

// Sets the address of each of `tiles`, so that tiles that are live at the same
// time do not overlap each other or any of `obstacles`; obstacles may overlap
// each other. Both are ordered by `first`. Space is reused as late as possible,
// so that engines need not wait for each other; where this does not fit, as
// soon as possible; where this does not fit either, large tiles are placed
// first. Deterministic. Returns nothing, or if no way fits, the index of the
// first tile that found no room when space was reused as soon as possible.
std::optional<size_t> PlaceTiles(const Region& region,
                                 const std::vector<LiveTile>& obstacles,
                                 std::vector<LiveTile>& tiles);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_PLACEMENT_H_
