// DMA transfers: how one is split over its queues, and what a part does.
//
// A transfer is dst.flat[k] = move(src.flat[k]), where the flat order is
// row-major and the partition is the outermost dimension of a tile on chip.
// Same dtypes move bits, others go through fp32
// (nki/api/nki/isa/__init__.py:285).
#ifndef TRNEMU_CORE_ENGINES_DMA_H_
#define TRNEMU_CORE_ENGINES_DMA_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/execution.h"

namespace trnemu {

// Elements [first, first + count) in the flat order. May be empty.
struct DmaPart {
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const DmaPart&) const = default;
};

// One part a queue, in order. If a side is on chip (dst first), eight of the
// memory's 128 partitions belong to each of 16 queues, and accordingly to
// fewer; else the elements are split evenly.
std::vector<DmaPart> SplitDma(const Tile& dst, const Tile& src, int queues);
// The same into a vector that is kept.
void SplitDma(const Tile& dst, const Tile& src, int queues,
              std::vector<DmaPart>& parts);

// Moves a part. Checks that what it reads has been written and marks what it
// writes. A transfer whose source and destination overlap is undefined on the
// device; here it moves runs in the flat order.
absl::Status ExecuteDmaPart(const Tile& dst, const Tile& src, DmaPart part,
                            CoreState& state);

// Whether a transfer writes bytes that it also reads, other than each onto
// itself. Exact.
bool SourceAndDestinationOverlap(const Tile& dst, const Tile& src);

// What the time of a part depends on.
struct DmaShape {
  int64_t bytes = 0;  // of the wider side
  // Pieces that lie one after the other on both sides, and the longest that a
  // piece can be.
  int64_t rows = 0;
  int64_t row_bytes = 0;
};
DmaShape ShapeOfDmaPart(const Tile& dst, const Tile& src, DmaPart part);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_DMA_H_
