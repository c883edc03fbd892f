// When and where the tiles of a program are live: the rows behind
// `trnemu verify --memory-map`, Program.memory_map() and reports of capacity.
#ifndef TRNEMU_ISA_PASSES_MEMORY_MAP_H_
#define TRNEMU_ISA_PASSES_MEMORY_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "isa/hardware.h"
#include "isa/passes/capacity.h"
#include "isa/program.h"

namespace trnemu {

// A tile from the first to the last instruction that uses it, in program order
// of its core. One that is used before a loop and in it, or whose value one
// iteration leaves for the next, is live in all of the loop; one that every
// iteration begins by writing, only from there.
struct MemorySpan {
  uint32_t tensor = 0;
  uint32_t core = 0;
  Space space = Space::kInvalid;
  int64_t address = 0;  // bytes of the partition: [address, address + bytes)
  int64_t bytes = 0;
  uint32_t first = 0;
  uint32_t last = 0;

  bool Meets(const MemorySpan& other) const {
    return core == other.core && space == other.space && first <= other.last &&
           other.first <= last;
  }
};

// Of every tile that an instruction uses, by core, memory, first instruction
// and address.
std::vector<MemorySpan> FindMemorySpans(const Program& program);

// SBUF or PSUM of one core.
struct MemoryMapPart {
  uint32_t core = 0;
  Limit limit;
  std::string limit_source;
  uint32_t instructions = 0;  // of the core
  std::vector<MemorySpan> spans;
  // Most bytes per partition that are live at once (shared bytes count once),
  // at the first instruction where they are.
  int64_t peak = 0;
  uint32_t peak_at = 0;
  int64_t end = 0;  // of the last byte that any tile covers
};

struct MemoryMap {
  std::string program, target;
  std::vector<MemoryMapPart> parts;  // by core; of memories with tiles
};

MemoryMap MakeMemoryMap(const Program& program, const Hardware& hardware);

// For a tile that ends outside its memory: a table of what is live with it
// there, biggest first, their total, and where it would fit.
void DescribeNeighbours(const Program& program, const Limit& limit,
                        uint32_t tensor, Diagnostic& d);

// A picture of it: program order to the right, bytes of a partition upwards.
std::string MemoryMapSvg(const MemoryMap& map, const Program& program);
// The same for a terminal, 80 columns wide, with a table of the tiles.
std::string MemoryMapText(const MemoryMap& map, const Program& program);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_MEMORY_MAP_H_
