#include "core/engines/array.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace trnemu {
namespace {

constexpr int64_t kArray = 128;  // rows and columns
constexpr int64_t kCell = 32;    // of the smallest tile
constexpr int64_t kCells = kArray / kCell;

std::string Describe(const ArrayPosition& p) {
  return absl::StrCat(p[2], " x ", p[3], " at row ", p[0], ", column ", p[1]);
}

bool FitsAxis(int64_t start, int64_t size) {
  return (size == 32 || size == 64 || size == 128) && start >= 0 &&
         start % size == 0 && start + size <= kArray;
}

size_t FirstCell(const ArrayPosition& p) {
  return static_cast<size_t>(p[0] / kCell * kCells + p[1] / kCell);
}

uint32_t CellsOf(const ArrayPosition& p) {
  uint32_t cells = 0;
  for (int64_t r = p[0] / kCell; r < (p[0] + p[2]) / kCell; ++r) {
    for (int64_t c = p[1] / kCell; c < (p[1] + p[3]) / kCell; ++c) {
      cells |= 1u << (r * kCells + c);
    }
  }
  return cells;
}

}  // namespace

absl::StatusOr<LoadedTile*> PlaceTile(const ArrayPosition& position,
                                      int64_t rows, int64_t columns,
                                      CoreState& state) {
  const bool exists =
      FitsAxis(position[0], position[2]) && FitsAxis(position[1], position[3]);
  if (!exists || rows > position[2] || columns > position[3]) {
    return MakeFault(
        Category::kIllegal, "load_stationary.shape",
        absl::StrCat("stationary is ", rows, " x ", columns,
                     ", and the tile of the array is ", Describe(position),
                     exists ? ""
                            : "; tiles of the 128 x 128 array have 32, 64 or "
                              "128 rows and columns and start at multiples"));
  }
  const uint32_t cells = CellsOf(position);
  for (auto& tile : state.loaded) {
    if (tile != nullptr && (tile->cells & cells) != 0) tile->rows = 0;
  }
  std::unique_ptr<LoadedTile>& tile = state.loaded[FirstCell(position)];
  if (tile == nullptr) tile = std::make_unique<LoadedTile>();
  tile->rows = 0;
  tile->position = position;
  tile->cells = cells;
  return tile.get();
}

absl::StatusOr<LoadedTile*> FindTile(const ArrayPosition& position,
                                     CoreState& state) {
  for (auto& tile : state.loaded) {
    if (tile != nullptr && tile->rows > 0 && tile->position == position) {
      return tile.get();
    }
  }
  return MakeFault(Category::kUninitialized, "multiply_moving.nothing_loaded",
                   absl::StrCat("the tensor engine multiplies with its tile ",
                                Describe(position),
                                ", in which no stationary tile is loaded"));
}

absl::Status CheckProductShape(const LoadedTile& loaded, const Tile& moving,
                               int64_t columns, const Tile& dst) {
  if (moving.partitions == loaded.rows && dst.partitions == loaded.columns &&
      dst.free_size == columns) {
    return absl::OkStatus();
  }
  return MakeFault(
      Category::kIllegal, "multiply_moving.shape",
      absl::StrCat("the array holds ", loaded.rows, " x ", loaded.columns,
                   ", moving is ", moving.partitions, " x ", columns,
                   " and dst is ", dst.partitions, " x ", dst.free_size));
}

}  // namespace trnemu
