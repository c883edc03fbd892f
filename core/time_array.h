// The tensor engine in simulated time: its load path, the tiles of its array,
// and the limit after idling.
//
// Loads go one after the other and one ahead of the multiplication whose place
// they take. Multiplications on tiles that share no element of the array run
// side by side, started one by one.
#ifndef TRNEMU_CORE_TIME_ARRAY_H_
#define TRNEMU_CORE_TIME_ARRAY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/run.h"
#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

bool LoadsArray(Opcode opcode);
bool UsesArray(Opcode opcode);  // loads or multiplies

// The part of the array an instruction works on.
struct ArrayTile {
  uint32_t cells = 0;   // of 32 x 32 elements, as bits
  int64_t columns = 0;  // of the tile
};
// The tile that LoadStationary, MultiplyMoving or their Mx forms name.
ArrayTile ArrayTileOf(Opcode opcode, std::span<const Attribute> attributes);

// How long something was busy in a sliding window. Intervals come in the order
// of their starts and may overlap; each counts by a weight.
class BusyWindow {
 public:
  void Add(Ticks start, Ticks end, int64_t weight);
  // Of [now - window, now), weighted. `now` must not be before the start of an
  // interval, nor fall.
  int64_t BusyUntil(Ticks now, Ticks window);

 private:
  struct Interval {
    Ticks start = 0, end = 0;
    int64_t weight = 0;
  };
  std::vector<Interval> intervals_;
  size_t first_ = 0;   // those before it have left the window
  int64_t total_ = 0;  // of the others, all of them
};

class ArrayTime {
 public:
  // The earliest times at which they may start.
  Ticks LoadStart(const ArrayTile& tile) const;
  Ticks MultiplyStart(const ArrayTile& tile) const;
  // When all of it is free.
  Ticks AllFree() const;

  void Load(const ArrayTile& tile, Ticks start, Ticks issue);
  // `rows`: those of the array that work. `least`: until the next
  // multiplication may start beside it.
  void Multiply(const ArrayTile& tile, int64_t rows, Ticks start, Ticks issue,
                Ticks least, const TensorEngineLimits& limits);

  // Whether the engine is limited at `now`.
  bool Throttled(Ticks now, const TensorEngineLimits& limits);

  // The hint of the tile that is loaded there.
  void SetOnezero(const ArrayTile& tile, bool onezero);
  bool Onezero(const ArrayTile& tile) const {
    return (onezero_ & tile.cells) != 0;
  }

 private:
  Ticks load_path_ = 0;  // when it is free
  Ticks start_ = 0;      // when the next multiplication may start
  // By cell.
  std::array<Ticks, 16> load_from_{};  // one load ahead, not two
  std::array<Ticks, 16> loaded_{};
  std::array<Ticks, 16> free_{};
  uint32_t onezero_ = 0;
  BusyWindow busy_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_TIME_ARRAY_H_
