// One engine's in-order instruction stream during a run.
#ifndef TRNEMU_CORE_SEQUENCER_H_
#define TRNEMU_CORE_SEQUENCER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/execution.h"
#include "core/loop_position.h"
#include "core/registers.h"
#include "core/run.h"
#include "core/time_array.h"
#include "core/time_model.h"

namespace trnemu {

inline constexpr size_t kMaxSlots = 20;

// The bytes an instruction wrote on chip and when they are there, so that a
// dependent instruction of the same engine starts no earlier.
struct RecentWrite {
  Space space = Space::kInvalid;
  uint32_t first_partition = 0, partitions = 0;
  int64_t low = 0, high = 0;  // bytes of the partition, high exclusive
  Ticks completion = 0;
};

// The memories whose ports engines share (core/runner_time.cc).
struct Ports {
  bool sbuf = false;
  uint8_t psum_banks = 0;  // as bits
};

struct Sequencer {
  size_t core = 0;
  const CoreProgram* program = nullptr;
  Engine engine = Engine::kUnknown;
  const Instruction* begin = nullptr;
  const Instruction* next = nullptr;
  const Instruction* end = nullptr;

  // Of the instruction at `next`, once prepared.
  bool prepared = false;
  bool blocked = false;  // its waits do not hold
  bool dynamic = false;  // an operand's place depends on indices
  Cost cost;
  Ticks ready = 0;     // when it could start if its waits held
  Ticks earliest = 0;  // when it can start

  Ticks issue_ready = 0;  // when the next instruction may start
  Ticks last_completion = 0;
  std::array<RecentWrite, 2> recent;
  size_t recent_at = 0;
  ArrayTime array;       // of the tensor engine
  ArrayTile array_tile;  // of the instruction at `next`
  // Scalar engine: the activation table that is loaded.
  uint8_t table = 0;
  // Vector engine: the last transpose, its quadrants and when it started.
  uint32_t quadrants = 0;
  Ticks transpose_start = 0;
  // What memory the instruction at `next` goes to, and until when the one
  // before it does.
  Ports ports, held_ports;
  Ticks ports_until = 0;
  // DMA without hardware generation: when the next payload may start.
  Ticks next_payload = 0;

  // Of the instruction at `next`, once prepared; last, for they are long.
  std::array<Slot, kMaxSlots> slots;
  // In a stream with loops: what each instruction costs, once it is known.
  std::vector<std::optional<Cost>> costs;

  // When each instruction ran last, counted from 1 in all sequencers together;
  // 0: never. For reports.
  std::vector<uint64_t> ran;

  RegisterFile registers;
  const StreamLoops* loops = nullptr;  // null: it has none
  LoopPosition position;

  bool done() const { return next == end; }
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_SEQUENCER_H_
