// DMA transfers: how one is split over its queues, and what a part does.
//
// A copy is dst.flat[k] = move(src.flat[k]), where the flat order is row-major
// and the partition is the outermost dimension of a tile on chip. Same dtypes
// move bits, others go through fp32 (nki/api/nki/isa/__init__.py:285). A side
// with rows is a gather or scatter: row w lies at an offset of its own. A
// transpose is a copy whose source is read in another order; a sum adds its
// sources in fp32, in ascending order, and casts once
// (nki/api/nki/isa/__init__.py:2665).
#ifndef TRNEMU_CORE_ENGINES_DMA_H_
#define TRNEMU_CORE_ENGINES_DMA_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "core/execution.h"

namespace trnemu {

// Elements [first, first + count) in the flat order of the destination. May be
// empty.
struct DmaPart {
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const DmaPart&) const = default;
};

inline constexpr int kMaxDmaSources = 16;

// A side of a transfer.
struct DmaOperand {
  // All of it; with rows, a row at offset 0.
  Tile tile;
  bool has_rows = false;
  // Bytes from `tile` to each row; kNoRow (core/dynamic.h): left out.
  std::vector<int64_t> rows;
  // The elements before this one are not there: those of a staged part, whose
  // tile or rows begin with it. A multiple of a row's size.
  int64_t first = 0;

  int64_t size() const {
    const int64_t of_tile = tile.partitions * tile.free_size;
    return has_rows ? of_tile * static_cast<int64_t>(rows.size()) : of_tile;
  }
};

// A transfer whose addresses are known.
struct DmaTransfer {
  Opcode opcode = Opcode::kDmaCopy;
  DmaOperand dst;
  std::array<DmaOperand, kMaxDmaSources> srcs;
  int num_srcs = 1;
  // A scalar offset is out of bounds and skipped: nothing is moved.
  bool nothing = false;
  // The rows of the source are columns of dst: element w of its last
  // dimension, which dst.tile lacks, lies w * column_step bytes on.
  bool rows_are_columns = false;
  int64_t column_step = 0;
  // A transpose: where srcs[0] is read from, in its own order.
  Tile plain_src;

  std::span<const DmaOperand> sources() const {
    return {srcs.data(), static_cast<size_t>(num_srcs)};
  }
  int64_t columns() const {
    return rows_are_columns ? static_cast<int64_t>(srcs[0].rows.size()) : 1;
  }
  // Elements of the destination.
  int64_t size() const { return dst.size() * columns(); }
};

// `src` so that the flat order of the result is that of its permutation:
// dimension i is axes[i] of src, whose dimension 0 is the partition on chip.
Tile Permuted(const Tile& src, std::span<const int> axes);

// Makes a transpose of a transfer whose operands are set as for a copy, rows of
// the source without their dimension 0. `axes` as the attribute has it.
void MakeTranspose(DmaTransfer& transfer, uint64_t axes);

// One part a queue, in order. If a side is on chip (dst first), eight of the
// memory's 128 partitions belong to each of 16 queues, and accordingly to
// fewer; else the elements are split evenly.
std::vector<DmaPart> SplitDma(const Tile& dst, const Tile& src, int queues);
void SplitDma(const DmaTransfer& transfer, int queues,
              std::vector<DmaPart>& parts);

// Moves a part. Checks that what it reads has been written and marks what it
// writes; rows that are left out keep their bytes and marks. A transfer whose
// source and destination overlap is undefined on the device; here it moves
// runs in the flat order.
absl::Status ExecuteDmaPart(const DmaTransfer& transfer, DmaPart part,
                            CoreState& state);
// The same of a copy without rows.
absl::Status ExecuteDmaPart(const Tile& dst, const Tile& src, DmaPart part,
                            CoreState& state);

// A part whose source has been read: what ExecuteDmaPart then writes it from.
struct StagedPart {
  bool has_read = false;
  DmaTransfer transfer;          // the same, but read from `bytes`
  std::vector<std::byte> bytes;  // of each source, its elements of the part
};
// The first half of ExecuteDmaPart: checks and copies what the part reads, so
// that ExecuteDmaPart(staged.transfer, part, state) can write it later.
absl::Status ReadDmaPart(const DmaTransfer& transfer, DmaPart part,
                         StagedPart& staged, CoreState& state);

// Whether a transfer writes bytes that it also reads, other than each onto
// itself. Exact.
bool SourceAndDestinationOverlap(const Tile& dst, const Tile& src);
bool SourceAndDestinationOverlap(const DmaTransfer& transfer);
// The positions of two rows of dst that are the same, else of two that share
// elements; {-1, -1}: there are none. Each row by itself has none twice.
std::pair<int64_t, int64_t> DuplicateRows(const DmaOperand& dst);

// What the time of a part depends on.
struct DmaShape {
  int64_t bytes = 0;  // of the wider side
  // Pieces that lie one after the other on both sides, and the longest that a
  // piece can be.
  int64_t rows = 0;
  int64_t row_bytes = 0;
};
DmaShape ShapeOfDmaPart(const Tile& dst, const Tile& src, DmaPart part);
// The same for several parts of a transfer.
struct DmaRuns {
  int64_t to = 1;  // elements that lie one after the other
  int64_t from = 1;
  int64_t both = 1;       // after which both start a new run
  int64_t row_bytes = 0;  // of an element
  int64_t bytes = 0;      // of an element, with those of further sources
};
DmaRuns RunsOfDma(const Tile& dst, const Tile& src);
DmaRuns RunsOfDma(const DmaTransfer& transfer);
DmaShape ShapeOfDmaPart(const DmaRuns& runs, DmaPart part);
// What a part reads from HBM and writes to it.
struct HbmBytes {
  int64_t read = 0;
  int64_t written = 0;
};
HbmBytes HbmBytesOf(const DmaTransfer& transfer, DmaPart part);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_DMA_H_
