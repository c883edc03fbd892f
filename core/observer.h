// Who looks on while a program runs: the debugger, --stop-at-nan.
//
// An Effect is one thing that changes the machine: an instruction, or a part
// of a DMA. The runner calls its observers around each; without observers that
// costs a test of one pointer.
#ifndef TRNEMU_CORE_OBSERVER_H_
#define TRNEMU_CORE_OBSERVER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "core/engines/dma.h"
#include "core/execution.h"
#include "core/run.h"
#include "isa/program.h"

namespace trnemu {

struct Effect {
  enum class Kind : uint8_t {
    kInstruction,  // an engine's instruction
    kTrigger,      // a DMA is triggered: its parts follow
    kRead,         // a part reads its source (random order only)
    kPart,         // a part writes; in other orders than random it reads first
  };
  Kind kind = Kind::kInstruction;
  const Instruction* instruction = nullptr;
  size_t core = 0;
  // kInstruction: the operands, dynamic offsets added. Those of views made by
  // indirect() are in `state` instead.
  std::span<const Slot> slots;
  const CoreState* state = nullptr;
  // kRead, kPart: the transfer and the elements of its flat order. In random
  // order kPart reads what kRead has put aside.
  const DmaTransfer* dma = nullptr;
  DmaPart elements;
  int32_t part = -1;  // the queue it is in
  Ticks time = 0;     // timed order: when it starts; a part: when it is done
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Asked when the instruction could issue; true stops the runner before it,
  // with nothing changed. Asked again when the run goes on.
  virtual bool PausesBefore(size_t, const Instruction&) { return false; }
  // Memory is as the effect will find it; kInstruction and kPart only. An error
  // ends the run.
  virtual absl::Status Before(const Effect&) { return absl::OkStatus(); }
  // Memory is as the effect has left it.
  virtual absl::Status After(const Effect&) { return absl::OkStatus(); }
  // Asked after each instruction and part; true stops the runner there.
  virtual bool PausesAfter() { return false; }
};

// Elements of one partition of a tile that lie `step` bytes apart.
struct Stretch {
  const Tile* tile = nullptr;
  size_t operand = 0;     // its slot in the opcode's row
  int64_t partition = 0;  // of the tile
  ptrdiff_t offset = 0;   // bytes from the tile's base in that partition
  int64_t element = 0;    // the first one's index in the partition
  int64_t count = 0;
  ptrdiff_t step = 0;

  std::byte* data() const {
    return tile->base + partition * tile->partition_stride + offset;
  }
  // Of the memory's partition, or of the HBM tensor.
  int64_t address() const { return tile->address + offset; }
};
using StretchVisit = std::function<void(const Stretch&)>;

// What the effect writes, in order. Elements that an instruction leaves as they
// are under a predicate are among them. Indirect operands: after it only.
void ForEachWritten(const Effect& effect, const StretchVisit& visit);
// What it reads; operands that are added to are among them.
void ForEachRead(const Effect& effect, const StretchVisit& visit);

// What was written and where, for the log: "0123456789abcdef at sbuf 0:4 [192,
// 224)", the hash over places and bytes; "" if nothing. Of a DMA the parts add
// up whatever their order.
class EffectDigest {
 public:
  explicit EffectDigest(const Program& program) : program_(&program) {}
  void Add(const Effect& effect);
  std::string Text() const;
  void Clear() { boxes_.clear(); }

 private:
  struct Box {
    size_t operand = 0;
    uint64_t hash = 0;  // the sum over its effects
    Space space = Space::kInvalid;
    std::string tensor;  // in HBM
    int64_t first_partition = 0, last_partition = 0;
    int64_t low = 0, high = 0;
  };
  Box& BoxOf(const Effect& effect, const Stretch& stretch);
  const Program* program_;
  std::vector<Box> boxes_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_OBSERVER_H_
