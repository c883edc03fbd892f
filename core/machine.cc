#include "core/machine.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

namespace trnemu {
namespace {

// The memories of machines that are gone, for the next ones: new ones would
// pay a page fault for every page they touch, which in a small program costs
// more than the program. What a program sees is reset before each run
// (ResetTiles, PrepareHbm).
class Spares {
 public:
  static Spares& Get() {
    static auto* const spares = new Spares();
    return *spares;
  }
  std::unique_ptr<Machine> Take(const MemoryLimits& limits, size_t cores) {
    const std::lock_guard lock(mutex_);
    for (auto it = spares_.begin(); it != spares_.end(); ++it) {
      Machine& m = **it;
      const CoreMemory& core = *m.cores.front();
      if (m.cores.size() != cores ||
          m.hbm->size() != limits.hbm_bytes_per_core * int64_t(cores) ||
          core.sbuf.partition_bytes() != limits.sbuf_partition_bytes ||
          core.psum.partition_bytes() != limits.psum_partition_bytes) {
        continue;
      }
      std::unique_ptr<Machine> found = std::move(*it);
      spares_.erase(it);
      return found;
    }
    return nullptr;
  }
  void Give(std::unique_ptr<Machine> machine) {
    if (machine->hbm.use_count() != 1 || machine->hbm->used() != 0) return;
    machine->hardware = nullptr;
    const std::lock_guard lock(mutex_);
    if (spares_.size() == kMost) spares_.erase(spares_.begin());
    spares_.push_back(std::move(machine));
  }

 private:
  static constexpr size_t kMost = 2;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Machine>> spares_;
};

std::shared_ptr<Machine> Shared(std::unique_ptr<Machine> machine) {
  return std::shared_ptr<Machine>(machine.release(), [](Machine* m) {
    Spares::Get().Give(std::unique_ptr<Machine>(m));
  });
}

}  // namespace

CoreMemory::CoreMemory(const MemoryLimits& limits)
    : sbuf(limits.sbuf_partition_bytes),
      psum(limits.psum_partition_bytes),
      psum_memory(static_cast<size_t>(
          PsumState::Words(psum_state_stride() * kPartitions))),
      psum_state(psum_memory.data(), psum_state_stride() * kPartitions) {}

int64_t CoreMemory::psum_state_stride() const {
  // Partitions start words, so that whole banks are whole words.
  constexpr int64_t kWord = WrittenBits::kWordBits;
  return (psum.partition_bytes() / 2 + kWord - 1) / kWord * kWord;
}

absl::StatusOr<std::shared_ptr<Machine>> MakeMachine(
    std::shared_ptr<const Hardware> hardware, int cores) {
  if (auto spare = Spares::Get().Take(hardware->memory, cores)) {
    spare->hardware = std::move(hardware);
    return Shared(std::move(spare));
  }
  auto machine = std::make_unique<Machine>();
  auto hbm = Hbm::Create(hardware->memory.hbm_bytes_per_core * cores);
  if (!hbm.ok()) return hbm.status();
  machine->hbm = *hbm;
  try {
    for (int c = 0; c < cores; ++c) {
      machine->cores.push_back(std::make_unique<CoreMemory>(hardware->memory));
    }
  } catch (const std::bad_alloc&) {
    return MakeFault(Category::kLimit, "limit.host_memory",
                     "this host has no memory for a core's SBUF and PSUM");
  }
  machine->hardware = std::move(hardware);
  return Shared(std::move(machine));
}

std::vector<TileBytes> FindTileBytes(const Program& program) {
  std::vector<TileBytes> tiles;
  for (const Tensor& t : program.tensors) {
    if (!t.on_chip()) continue;
    const auto address = static_cast<int64_t>(t.byte_address);
    tiles.push_back(
        {t.core, t.space(), address, address + t.bytes_per_partition()});
  }
  std::sort(tiles.begin(), tiles.end(),
            [](const TileBytes& a, const TileBytes& b) {
              return std::tie(a.core, a.space, a.low) <
                     std::tie(b.core, b.space, b.low);
            });
  std::vector<TileBytes> merged;
  for (const TileBytes& tile : tiles) {
    const bool meets = !merged.empty() && merged.back().core == tile.core &&
                       merged.back().space == tile.space &&
                       merged.back().high >= tile.low;
    if (meets) {
      merged.back().high = std::max(merged.back().high, tile.high);
    } else {
      merged.push_back(tile);
    }
  }
  return merged;
}

void ResetTiles(const std::vector<TileBytes>& tiles, bool zero,
                Machine& machine) {
  for (const TileBytes& tile : tiles) {
    CoreMemory& core = *machine.cores[tile.core];
    const bool psum = tile.space == Space::kPsum;
    OnChipMemory& memory = psum ? core.psum : core.sbuf;
    const int64_t bytes = tile.high - tile.low;
    for (int64_t p = 0; p < kPartitions; ++p) {
      memory.shadow_at(p, tile.low).Clear(0, bytes);
      if (zero) {
        std::memset(memory.at(p, tile.low), 0, static_cast<size_t>(bytes));
      }
      if (!psum) continue;
      const int64_t row = p * core.psum_state_stride();
      core.psum_state.Mark(row + tile.low / 2,
                           (tile.high + 1) / 2 - tile.low / 2,
                           PsumWriter::kNothing);
    }
  }
}

void Placement::Resolve(size_t core, const Access& a, Tile& t) const {
  const Tensor& tensor = program_.tensors[a.tensor];
  const int64_t size = static_cast<int64_t>(SizeOf(a.dtype));
  t.dtype = a.dtype;
  t.space = a.space;
  t.rank = a.rank;
  t.free_size = 1;
  int64_t run = size;
  t.contiguous = true;
  for (int d = a.rank - 1; d >= 0; --d) {
    t.dims[d] = {a.dims[d].step * size, a.dims[d].count};
    t.free_size *= a.dims[d].count;
    if (a.dims[d].count != 1 && t.dims[d].step != run) t.contiguous = false;
    run *= a.dims[d].count;
  }
  t.psum_state = PsumState();
  t.psum_state_stride = 0;
  if (a.space == Space::kHbm) {
    const HbmBlock& block = blocks_[a.tensor];
    t.address = a.offset * size;
    t.base = block.data() + t.address;
    t.shadow = track_ ? block.shadow() + t.address : WrittenBits();
    t.partition_stride = 0;
    t.partitions = 1;
    t.first_partition = 0;
    return;
  }
  CoreMemory& memory = *machine_.cores[core];
  const bool psum = a.space == Space::kPsum;
  OnChipMemory& on_chip = psum ? memory.psum : memory.sbuf;
  t.first_partition = tensor.start_partition + a.start_partition;
  t.address = static_cast<int64_t>(tensor.byte_address) + a.offset * size;
  t.base = on_chip.at(t.first_partition, t.address);
  t.shadow =
      track_ ? on_chip.shadow_at(t.first_partition, t.address) : WrittenBits();
  t.partition_stride = on_chip.stride();
  t.partitions = a.partitions;
  if (psum) {
    t.psum_state_stride = memory.psum_state_stride();
    t.psum_state = memory.psum_state +
                   (t.first_partition * t.psum_state_stride + t.address / 2);
  }
}

}  // namespace trnemu
