// The pieces of a DMA part: stretches of the flat order in which neither side
// changes rows. What moves, stages and looks at parts goes through them.
#ifndef TRNEMU_CORE_ENGINES_DMA_PIECES_H_
#define TRNEMU_CORE_ENGINES_DMA_PIECES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "core/dynamic.h"
#include "core/engines/dma.h"

namespace trnemu {

// n elements of a tile, from element `first` of its flat order on.
struct Piece {
  const Tile* tile = nullptr;
  int64_t first = 0;
};

// Where element `at` of the transfer's flat order lies, and how many follow in
// the same row (n is lowered to it); false if its row is left out. `moved`
// holds a row's tile.
bool LocatePiece(const DmaOperand& operand, int64_t at, int64_t& n,
                 std::optional<Tile>& moved, Piece& piece);

// Of n elements from `at` on those that no row of a source ends before.
int64_t SegmentLength(const DmaTransfer& transfer, int64_t at, int64_t n);

// Moves n elements, with checks and marks. `described` is the source in its
// own order, if it has another; `name` the operand's, for diagnostics.
absl::Status MovePiece(const Piece& dst, const Piece& src, int64_t n,
                       const Tile* described, CoreState& state,
                       std::string_view name = "src");

// Calls visit(at, n, dst, sources) for each piece that a part moves: `at` is
// its first element's place in the order in which the part is moved, from 0.
template <typename Visit>
void ForEachPiece(const DmaTransfer& t, DmaPart part, Visit visit) {
  if (t.nothing || part.count == 0) return;
  std::array<Piece, kMaxDmaSources> srcs;
  if (t.rows_are_columns) {
    const int64_t columns = t.columns();
    const int64_t n = part.count / columns;
    for (int64_t w = 0; w < columns; ++w) {
      const int64_t offset = t.srcs[0].rows[static_cast<size_t>(w)];
      if (offset == kNoRow) continue;
      const Tile to = Moved(t.dst.tile, w * t.column_step);
      const Tile from = Moved(t.srcs[0].tile, offset);
      srcs[0] = {&from, (part.first - t.srcs[0].first) / columns};
      visit(w * n, n, Piece{&to, part.first / columns},
            std::span<const Piece>(srcs.data(), 1));
    }
    return;
  }
  std::optional<Tile> moved_dst;
  std::array<std::optional<Tile>, kMaxDmaSources> moved;
  const int64_t end = part.first + part.count;
  for (int64_t at = part.first; at < end;) {
    int64_t n = SegmentLength(t, at, end - at);
    Piece dst;
    bool all = LocatePiece(t.dst, at, n, moved_dst, dst);
    for (size_t s = 0; all && s < static_cast<size_t>(t.num_srcs); ++s) {
      all = LocatePiece(t.srcs[s], at, n, moved[s], srcs[s]);
    }
    if (all) {
      visit(
          at - part.first, n, dst,
          std::span<const Piece>(srcs.data(), static_cast<size_t>(t.num_srcs)));
    }
    at += n;
  }
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_DMA_PIECES_H_
