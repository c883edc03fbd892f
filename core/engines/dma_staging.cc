// The reading half of a DMA part (core/engines/dma.h).
#include <array>
#include <string>
#include <vector>

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

// Which elements of its flat order a source is staged from and to: those of the
// part, in whole rows if it has some.
struct Extent {
  int64_t first = 0, end = 0;
};
Extent ExtentOf(const DmaTransfer& t, const DmaOperand& src, DmaPart part) {
  Extent e = {part.first, part.first + part.count};
  if (!src.has_rows || t.rows_are_columns) return e;
  const int64_t row = src.tile.partitions * src.tile.free_size;
  e.first = e.first / row * row;
  e.end = (e.end + row - 1) / row * row;
  return e;
}

// `place` reads the elements of `src` from byte `at` of the buffer on.
void PlaceSource(const DmaTransfer& t, const DmaOperand& src, Extent extent,
                 size_t at, StagedPart& staged, DmaOperand& place) {
  const int64_t n = extent.end - extent.first;
  place.has_rows = src.has_rows;
  place.first = extent.first;
  place.rows.clear();
  if (!src.has_rows) {
    place.tile = Flat(staged.bytes, at, src.tile.dtype, n);
    return;
  }
  const int64_t row = t.rows_are_columns
                          ? n / t.columns()
                          : src.tile.partitions * src.tile.free_size;
  const size_t skipped =
      t.rows_are_columns ? 0 : static_cast<size_t>(extent.first / row);
  place.tile = Flat(staged.bytes, at, src.tile.dtype, row);
  const auto bytes = row * static_cast<int64_t>(SizeOf(src.tile.dtype));
  for (int64_t w = 0; w < n / row; ++w) {
    const bool there = src.rows[skipped + static_cast<size_t>(w)] != kNoRow;
    place.rows.push_back(there ? w * bytes : kNoRow);
  }
}

// Makes room for what a part reads of each source, and makes staged.transfer
// read it from there.
void PlaceSources(const DmaTransfer& t, DmaPart part, StagedPart& staged) {
  constexpr size_t kLine = 64;
  std::array<size_t, kMaxDmaSources> at{};
  size_t bytes = 0;
  for (size_t s = 0; s < static_cast<size_t>(t.num_srcs); ++s) {
    const Extent e = ExtentOf(t, t.srcs[s], part);
    at[s] = bytes;
    bytes +=
        static_cast<size_t>(e.end - e.first) * SizeOf(t.srcs[s].tile.dtype);
    bytes = (bytes + kLine - 1) / kLine * kLine;
  }
  if (staged.bytes.size() < bytes) staged.bytes.resize(bytes);
  for (size_t s = 0; s < static_cast<size_t>(t.num_srcs); ++s) {
    PlaceSource(t, t.srcs[s], ExtentOf(t, t.srcs[s], part), at[s], staged,
                staged.transfer.srcs[s]);
  }
}

}  // namespace

absl::Status ReadDmaPart(const DmaTransfer& t, DmaPart part, StagedPart& staged,
                         CoreState& state) {
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
  ForEachPiece(
      t, part,
      [&](int64_t at, int64_t n, const Piece&, std::span<const Piece> from) {
        for (size_t s = 0; s < from.size() && status.ok(); ++s) {
          // Rows are staged whole, so that a piece lies as far into the buffer
          // as into the part.
          const DmaOperand& place = to.srcs[s];
          const int64_t skipped =
              t.rows_are_columns ? 0 : part.first - place.first;
          Tile all = place.tile;
          all.free_size = all.dims[0].count = skipped + part.count;
          status = MovePiece({&all, skipped + at}, from[s], n, described, state,
                             sum ? absl::StrCat("src", s) : std::string("src"));
        }
      });
  return status;
}

}  // namespace trnemu
