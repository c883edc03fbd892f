// A program being built: instructions in program order, before they have
// addresses, semaphores and streams. What the passes work on.
#ifndef TRNEMU_ISA_DRAFT_H_
#define TRNEMU_ISA_DRAFT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

struct Draft {
  // Everything but the streams. Pools of each core are filled; tiles that are
  // not pinned have no address yet.
  Program program;
  // Per core, all engines' instructions as the author wrote them. `order`
  // fields are set by FinishDraft.
  std::vector<std::vector<Instruction>> instructions;
};

// Gives every tile that is not pinned an address (SBUF: aligned to the dtype
// size, PSUM: whole within a bank where it fits one, 2-byte types to 4 bytes),
// reusing the space of tiles whose last use has passed, and puts a PsumReset
// of the region before the first use of each PSUM tile, on the engine of that
// first use. `capacity` if they do not fit, with a table of the tiles live at
// that point: name, bytes per partition, total, limit, source.
absl::Status Allocate(Draft& draft, const Hardware& hardware);

// Adds the waits and signals that data dependences between engines and DMA
// queues ask for (never across cores), with as few semaphores, waits and
// signals as vector clocks allow; explicit waits and signals stay. `limit` if
// the core's semaphores run out.
absl::Status Synchronise(Draft& draft, const Hardware& hardware);

// Distributes the instructions over their engines' streams.
Program FinishDraft(Draft draft);

}  // namespace trnemu

#endif  // TRNEMU_ISA_DRAFT_H_
