// What Synchronise looks at at a time: the instructions of a loop's body, or of
// the program outside loops. An inner loop stands there as one Nop before and
// one after it on each engine that takes part in it.
#ifndef TRNEMU_ISA_PASSES_LEVEL_H_
#define TRNEMU_ISA_PASSES_LEVEL_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "isa/draft.h"
#include "isa/program.h"

namespace trnemu {

// What one engine, with the DMAs it triggers, touches inside a loop.
struct Composite {
  std::vector<std::pair<Access, Role>> accesses;
  std::vector<uint32_t> marks;  // of its instructions (Draft::orderings)
};

struct LevelItem {
  enum class Kind : uint8_t {
    kPlain,
    kEntry,  // the Nop before a loop: waits for what the loop depends on
    kExit,   // the Nop after it: stands for all of the loop, once complete
  };
  uint32_t instruction = 0;  // index into the core's draft
  Kind kind = Kind::kPlain;
  uint32_t composite = 0;  // of the level; for Nops
};

struct Level {
  std::vector<LevelItem> items;  // in program order
  std::vector<Composite> composites;
};

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_LEVEL_H_
