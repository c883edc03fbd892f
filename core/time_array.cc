#include "core/time_array.h"

#include <algorithm>

#include "core/time_model.h"

namespace trnemu {
namespace {

constexpr int64_t kArray = 128;  // rows and columns
constexpr int64_t kCell = 32;    // of the smallest tile
constexpr uint32_t kAllCells = 0xffff;

ArrayTile TileAt(int64_t row, int64_t column, int64_t rows, int64_t columns) {
  ArrayTile tile;
  tile.columns = columns;
  for (int64_t r = row / kCell; r < (row + rows) / kCell; ++r) {
    for (int64_t c = column / kCell; c < (column + columns) / kCell; ++c) {
      if (r >= 0 && r < 4 && c >= 0 && c < 4) tile.cells |= 1u << (r * 4 + c);
    }
  }
  if (tile.cells == 0) tile.cells = kAllCells;  // the execution refuses it
  return tile;
}

template <typename Visit>
void ForEachCell(uint32_t cells, Visit visit) {
  for (size_t cell = 0; cell < 16; ++cell) {
    if (cells & (1u << cell)) visit(cell);
  }
}

}  // namespace

bool LoadsArray(Opcode opcode) {
  return opcode == Opcode::kLoadStationary ||
         opcode == Opcode::kLoadStationaryMx;
}

bool UsesArray(Opcode opcode) {
  return LoadsArray(opcode) || opcode == Opcode::kMultiplyMoving ||
         opcode == Opcode::kMultiplyMovingMx;
}

ArrayTile ArrayTileOf(Opcode opcode, std::span<const Attribute> a) {
  const auto at = [&](size_t row, size_t column, size_t rows, size_t columns) {
    if (a[rows].integer() == kArray && a[columns].integer() == kArray) {
      return ArrayTile{kAllCells, kArray};
    }
    return TileAt(a[row].integer(), a[column].integer(), a[rows].integer(),
                  a[columns].integer());
  };
  switch (opcode) {
    case Opcode::kLoadStationary: {
      using S = slot::LoadStationary;
      return at(S::kStartRow, S::kStartColumn, S::kRows, S::kColumns);
    }
    case Opcode::kMultiplyMoving: {
      using S = slot::MultiplyMoving;
      return at(S::kStartRow, S::kStartColumn, S::kRows, S::kColumns);
    }
    case Opcode::kLoadStationaryMx: {
      using S = slot::LoadStationaryMx;
      return TileAt(a[S::kStartRow].integer(), 0, a[S::kRows].integer(),
                    kArray);
    }
    default: {
      using S = slot::MultiplyMovingMx;
      return TileAt(a[S::kStartRow].integer(), 0, a[S::kRows].integer(),
                    kArray);
    }
  }
}

void BusyWindow::Add(Ticks start, Ticks end, int64_t weight) {
  total_ += (end - start) * weight;
  if (first_ < intervals_.size()) {
    Interval& last = intervals_.back();
    if (last.end == start && last.weight == weight) {
      last.end = end;  // a stream is one interval
      return;
    }
  }
  if (first_ > 64 && first_ * 2 > intervals_.size()) {
    intervals_.erase(intervals_.begin(),
                     intervals_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
  intervals_.push_back({start, end, weight});
}

int64_t BusyWindow::BusyUntil(Ticks now, Ticks window) {
  const Ticks from = now - window;
  for (; first_ < intervals_.size() && intervals_[first_].end <= from;
       ++first_) {
    const Interval& gone = intervals_[first_];
    total_ -= (gone.end - gone.start) * gone.weight;
  }
  int64_t busy = total_;
  for (size_t i = first_; i < intervals_.size() && intervals_[i].start < from;
       ++i) {
    const Interval& b = intervals_[i];
    busy -= (std::min(b.end, from) - b.start) * b.weight;
  }
  // Those still running are among the last: one for each tile at most.
  const size_t tail =
      intervals_.size() - first_ > 16 ? intervals_.size() - 16 : first_;
  for (size_t i = tail; i < intervals_.size(); ++i) {
    const Interval& b = intervals_[i];
    if (b.end > now) busy -= (b.end - std::max(b.start, now)) * b.weight;
  }
  return busy;
}

Ticks ArrayTime::LoadStart(const ArrayTile& tile) const {
  Ticks start = load_path_;
  ForEachCell(tile.cells,
              [&](size_t c) { start = std::max(start, load_from_[c]); });
  return start;
}

Ticks ArrayTime::MultiplyStart(const ArrayTile& tile) const {
  Ticks start = start_;
  ForEachCell(tile.cells, [&](size_t c) {
    start = std::max({start, free_[c], loaded_[c]});
  });
  return start;
}

Ticks ArrayTime::AllFree() const {
  return std::max(load_path_, *std::max_element(free_.begin(), free_.end()));
}

void ArrayTime::Load(const ArrayTile& tile, Ticks start, Ticks issue) {
  load_path_ = start + issue;
  ForEachCell(tile.cells, [&](size_t c) { loaded_[c] = load_path_; });
}

void ArrayTime::Multiply(const ArrayTile& tile, int64_t rows, Ticks start,
                         Ticks issue, Ticks least,
                         const TensorEngineLimits& limits) {
  start_ = start + std::min(issue, least);
  ForEachCell(tile.cells, [&](size_t c) {
    free_[c] = start + issue;
    load_from_[c] = start;
  });
  if (limits.throttled_rate >= 1) return;
  busy_.Add(start, start + issue,
            std::min(rows, limits.throttle_full_rows) * tile.columns);
}

bool ArrayTime::Throttled(Ticks now, const TensorEngineLimits& limits) {
  if (limits.throttled_rate >= 1) return false;
  const Ticks window = ToTicks(limits.throttle_window_ns);
  const double full = static_cast<double>(window) *
                      static_cast<double>(limits.throttle_full_rows * kArray);
  return static_cast<double>(busy_.BusyUntil(now, window)) <=
         limits.throttle_utilization * full;
}

void ArrayTime::SetOnezero(const ArrayTile& tile, bool onezero) {
  onezero_ = onezero ? onezero_ | tile.cells : onezero_ & ~tile.cells;
}

}  // namespace trnemu
