// What to do about a race: the wait that is missing.
#ifndef TRNEMU_CORE_RACES_REMEDY_H_
#define TRNEMU_CORE_RACES_REMEDY_H_

#include <string>

#include "core/races/access_history.h"
#include "isa/program.h"

namespace trnemu {

// One of the two that race: its instruction, and the core whose stream that is
// in (access.core is that of the memory).
struct Racer {
  const RaceAccess& access;
  uint32_t core = 0;

  bool dma() const { return Info(access.instruction->opcode).dma; }
};

struct Advice {
  std::string text;
  // The second does wait, and as the program is written for enough. That other
  // signals can make that up comes of another wait that is missing.
  bool consequence = false;
};

// `second` ought to wait for `first`. What a semaphore has to reach is counted
// in program order, so the advice holds for the program as it is meant, not for
// the order that a run happened to take.
Advice AdviceOf(const Program& program, const Racer& first,
                const Racer& second);

}  // namespace trnemu

#endif  // TRNEMU_CORE_RACES_REMEDY_H_
