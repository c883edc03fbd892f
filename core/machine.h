// The memories of a logical core, and where a program's operands lie in them.
#ifndef TRNEMU_CORE_MACHINE_H_
#define TRNEMU_CORE_MACHINE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/execution.h"
#include "isa/hardware.h"
#include "isa/program.h"
#include "memory/hbm.h"
#include "memory/onchip.h"
#include "memory/psum_state.h"

namespace trnemu {

// One physical core.
struct CoreMemory {
  explicit CoreMemory(const MemoryLimits& limits);
  OnChipMemory sbuf;
  OnChipMemory psum;
  // PsumWriter of each pair of bytes, as psum is laid out.
  std::vector<uint64_t> psum_memory;
  PsumState psum_state;
  int64_t psum_state_stride() const;  // entries between partitions
};

struct Machine {
  std::shared_ptr<const Hardware> hardware;
  std::vector<std::unique_ptr<CoreMemory>> cores;
  std::shared_ptr<Hbm> hbm;
};

absl::StatusOr<std::shared_ptr<Machine>> MakeMachine(
    std::shared_ptr<const Hardware> hardware, int cores);

// The bytes of each partition that a program's tiles cover: [low, high), apart
// from each other.
struct TileBytes {
  size_t core = 0;
  Space space = Space::kInvalid;
  int64_t low = 0, high = 0;
};
std::vector<TileBytes> FindTileBytes(const Program& program);
// Forgets what was written there and by whom; `zero`: fills them with zeros,
// too. A program reads and writes nothing else on chip. (Giving the pages back
// to the host would cost a page fault a partition.)
void ResetTiles(const std::vector<TileBytes>& tiles, bool zero,
                Machine& machine);

// A loaded program's tensors: HBM blocks by tensor index, null for tiles.
class Placement {
 public:
  Placement(const Program& program, Machine& machine,
            const std::vector<HbmBlock>& blocks, bool track)
      : program_(program), machine_(machine), blocks_(blocks), track_(track) {}

  // The operand's address. It must lie inside its tensor (VerifyProgram).
  // `track` off leaves shadows untracked.
  void Resolve(size_t core, const Access& access, Tile& tile) const;
  // Of a core's SBUF or PSUM.
  int64_t PartitionBytes(size_t core, bool psum) const {
    const CoreMemory& memory = *machine_.cores[core];
    return (psum ? memory.psum : memory.sbuf).partition_bytes();
  }

 private:
  const Program& program_;
  Machine& machine_;
  const std::vector<HbmBlock>& blocks_;
  bool track_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_MACHINE_H_
