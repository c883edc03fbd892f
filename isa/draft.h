// A program being built: instructions in program order, before they have
// addresses, semaphores and streams. What the passes work on.
#ifndef TRNEMU_ISA_DRAFT_H_
#define TRNEMU_ISA_DRAFT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

// A loop of a core. In the draft it stands between two markers (LoopBegin,
// LoopEnd) that belong to no engine; Replicate puts its control instructions
// into the streams of the engines that take part.
struct Loop {
  enum class Kind : uint8_t {
    kCounted,      // induction = lo; while induction < hi; induction += step
    kConditional,  // while condition != 0
  };
  Kind kind = Kind::kCounted;
  uint32_t induction = 0;  // register
  Operand lo, hi;          // immediates or registers
  int32_t step = 1;
  bool owns_hi = false;    // hi is a register that only the loop uses
  uint32_t condition = 0;  // register
  uint32_t source = kNoSource;
};

struct Draft {
  // Everything but the streams. Pools of each core are filled; tiles that are
  // not pinned have no address yet.
  Program program;
  // Per core, all engines' instructions as the author wrote them. `order`
  // fields are set by FinishDraft; until then they are marks (orderings).
  // Instructions on registers have no engine until Replicate.
  std::vector<std::vector<Instruction>> instructions;
  std::vector<std::vector<Loop>> loops;  // per core
  // Per core, what the author put in order beyond what data asks for: the
  // instruction with mark `second` starts when that with mark `first` is
  // complete, which comes before it. A mark is an Instruction's `order`; 0 is
  // none.
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> orderings;
  // The loop (index into loops of its core) that each tensor was made in; -1
  // for none. May be shorter than the tensors.
  std::vector<int32_t> tensor_loop;
};

// Gives every tile that is not pinned an address (SBUF: aligned to the dtype
// size, PSUM: whole within a bank where it fits one, 2-byte types to 4 bytes),
// reusing the space of tiles whose last use has passed, and puts a PsumReset
// of the region before the first use of each PSUM tile, on the engine of that
// first use. `capacity` if they do not fit, with a table of the tiles live at
// that point: name, bytes per partition, total, limit, source.
absl::Status Allocate(Draft& draft, const Hardware& hardware);

// Lets counters of loops share registers. Before Replicate.
void ReuseRegisters(Draft& draft);

// Gives the instructions on registers, and the control of loops, to the streams
// of all engines that need them: those with an instruction inside the loop or
// that reads the register, directly or through others. What nobody needs goes
// to the sync engine. `unsupported` if an instruction that becomes several
// signals or consumes a semaphore.
absl::Status Replicate(Draft& draft);

// Adds the waits and signals that data dependences between engines and DMA
// queues ask for (never across cores), with as few semaphores, waits and
// signals as vector clocks allow; explicit waits and signals stay. `limit` if
// the core's semaphores run out. Inside loops, waits consume, so that
// semaphores stay in their range whatever the trip count: an instruction waits
// for one of the iteration before where that writes what it reads, and so on.
absl::Status Synchronise(Draft& draft, const Hardware& hardware);

// Distributes the instructions over their engines' streams, without markers.
Program FinishDraft(Draft draft);

// Markers of loops.
Instruction LoopMarker(bool begin, uint32_t loop);
inline bool IsMarker(const Instruction& i) {
  return i.engine == Engine::kUnknown && i.opcode == Opcode::kBranch;
}
inline bool IsLoopBegin(const Instruction& i) {
  return IsMarker(i) && i.step == 0;
}
inline bool IsLoopEnd(const Instruction& i) {
  return IsMarker(i) && i.step == 1;
}
inline uint32_t LoopOf(const Instruction& marker) { return marker.order; }
// Reads or writes a register, and runs wherever one is needed.
inline bool IsRegisterOp(Opcode opcode) {
  return opcode == Opcode::kRegisterMove || opcode == Opcode::kRegisterAlu ||
         opcode == Opcode::kRegisterLoad || opcode == Opcode::kRankId ||
         opcode == Opcode::kProcessingRank;
}

}  // namespace trnemu

#endif  // TRNEMU_ISA_DRAFT_H_
