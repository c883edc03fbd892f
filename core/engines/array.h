// The tensor engine's array of 128 x 128 elements, and what is loaded where.
//
// A stationary tile is loaded into a tile of the array: the whole of it, or
// what tile_position and tile_size name. Tiles that do not overlap stay loaded
// side by side, and each multiplication uses the one of its own position; a
// load replaces every tile that it shares an element of the array with
// (nki/api/nki/isa/__init__.py:513-535).
#ifndef TRNEMU_CORE_ENGINES_ARRAY_H_
#define TRNEMU_CORE_ENGINES_ARRAY_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "core/execution.h"

namespace trnemu {

// Start row, start column, rows, columns.
using ArrayPosition = std::array<int64_t, 4>;

// Where to load a tile of rows x columns. Nothing is loaded there, nor in what
// it overlaps, until the caller has set `rows` of the result. `illegal`
// (load_stationary.shape) if the position is none or too small.
absl::StatusOr<LoadedTile*> PlaceTile(const ArrayPosition& position,
                                      int64_t rows, int64_t columns,
                                      CoreState& state);

// What is loaded at exactly that position; `uninitialized`
// (multiply_moving.nothing_loaded) if nothing is.
absl::StatusOr<LoadedTile*> FindTile(const ArrayPosition& position,
                                     CoreState& state);

// The sums of a multiplication have a row for each column of `loaded`. Faults
// (multiply_moving.shape) unless `moving` has its rows, and dst its columns and
// `columns` elements a partition.
absl::Status CheckProductShape(const LoadedTile& loaded, const Tile& moving,
                               int64_t columns, const Tile& dst);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_ARRAY_H_
