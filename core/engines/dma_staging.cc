// The reading half of a DMA part (core/engines/dma.h).
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/engines/dma_pieces.h"

namespace trnemu {
namespace {

// n elements one after the other, at a byte of `bytes`.
Tile Flat(std::vector<std::byte>& bytes, size_t at, Dtype dtype, int64_t n) {
  const auto size = static_cast<int64_t>(SizeOf(dtype));
  Tile tile;
  tile.base = bytes.data() + at;
  tile.dtype = dtype;
  tile.space = Space::kHbm;
  tile.rank = 1;
  tile.contiguous = true;
  tile.free_size = n;
  tile.dims[0] = {size, n};
  return tile;
}

// Makes room for what a part reads of each source, and makes staged.transfer
// read it from there.
void PlaceSources(const DmaTransfer& t, DmaPart part, StagedPart& staged) {
  DmaTransfer& to = staged.transfer;
  std::array<size_t, kMaxDmaSources> at{};
  size_t bytes = 0;
  for (size_t s = 0; s < static_cast<size_t>(t.num_srcs); ++s) {
    const DmaOperand& src = t.srcs[s];
    const bool in_rows = src.has_rows && !t.rows_are_columns;
    const int64_t row =
        in_rows ? src.tile.partitions * src.tile.free_size : 1;
    to.srcs[s].has_rows = src.has_rows;
    to.srcs[s].first = part.first / row * row;
    to.srcs[s].rows.clear();
    at[s] = bytes;
    int64_t end = part.first + part.count;
    if (in_rows) end = (end + row - 1) / row * row;
    bytes += static_cast<size_t>(end - to.srcs[s].first) *
             SizeOf(src.tile.dtype);
    bytes = (bytes + 63) / 64 * 64;
    to.srcs[s].tile.free_size = end - to.srcs[s].first;  // for now
  }
  if (staged.bytes.size() < bytes) staged.bytes.resize(bytes);
  for (size_t s = 0; s < static_cast<size_t>(t.num_srcs); ++s) {
    const DmaOperand& src = t.srcs[s];
    DmaOperand& place = to.srcs[s];
    const Dtype dtype = src.tile.dtype;
    const int64_t n = place.tile.free_size;
    int64_t row = n;
    size_t rows = 0, first = 0;
    if (src.has_rows) {
      rows = src.rows.size();
      row = n / t.columns();
      if (!t.rows_are_columns) {
        row = src.tile.partitions * src.tile.free_size;
        first = static_cast<size_t>(place.first / row);
        rows = static_cast<size_t>(n / row);
      }
    }
    place.tile = Flat(staged.bytes, at[s], dtype, row);
    const auto size = static_cast<int64_t>(SizeOf(dtype));
    for (size_t w = 0; w < rows; ++w) {
      const bool there = src.rows[first + w] != kNoRow;
      place.rows.push_back(there ? static_cast<int64_t>(w) * row * size
                                 : kNoRow);
    }
  }
}

}  // namespace

absl::Status ReadDmaPart(const DmaTransfer& t, DmaPart part,
                         StagedPart& staged, CoreState& state) {
  DmaTransfer& to = staged.transfer;
  to.opcode = t.opcode;
  to.dst = t.dst;
  to.num_srcs = t.num_srcs;
  to.nothing = t.nothing;
  to.rows_are_columns = t.rows_are_columns;
  to.column_step = t.column_step;
  to.plain_src = t.plain_src;
  if (t.nothing || part.count == 0) return absl::OkStatus();
  PlaceSources(t, part, staged);
  const bool sum = t.opcode == Opcode::kDmaCompute;
  const Tile* const described =
      t.opcode == Opcode::kDmaTranspose && !t.rows_are_columns ? &t.plain_src
                                                               : nullptr;
  absl::Status status;
  ForEachPiece(t, part, [&](int64_t at, int64_t n, const Piece&,
                            std::span<const Piece> from) {
    for (size_t s = 0; s < from.size() && status.ok(); ++s) {
      // Rows are staged whole, so that a piece lies as far into the buffer as
      // into the part.
      const DmaOperand& place = to.srcs[s];
      const int64_t skipped = t.rows_are_columns ? 0 : part.first - place.first;
      Tile all = place.tile;
      all.free_size = all.dims[0].count = skipped + part.count;
      status = MovePiece({&all, skipped + at}, from[s], n, described, state,
                         sum ? absl::StrCat("src", s) : std::string("src"));
    }
  });
  return status;
}

}  // namespace trnemu
