// The commit log: one line per retired instruction, with its effect.
#include "absl/strings/str_format.h"
#include "core/dynamic.h"
#include "core/layout.h"
#include "core/runner.h"

namespace trnemu {
namespace {

// FNV-1a over the elements of a tile in order, whatever its strides.
constexpr uint64_t kNothingHashed = 0xcbf29ce484222325;
uint64_t HashOf(const Tile& tile, uint64_t hash = kNothingHashed) {
  const int64_t size = static_cast<int64_t>(SizeOf(tile.dtype));
  const Layout layout = RowLayout(tile);
  for (uint32_t p = 0; p < tile.partitions; ++p) {
    const std::byte* base = tile.base + p * tile.partition_stride;
    ForEachRun(
        layout, 0, tile.free_size, [&](ptrdiff_t offset, int64_t, int64_t n) {
          const std::byte* element = base + offset;
          for (int64_t i = 0; i < n; ++i, element += layout.step()) {
            for (int64_t b = 0; b < size; ++b) {
              hash = (hash ^ static_cast<uint8_t>(element[b])) * 0x100000001b3;
            }
          }
        });
  }
  return hash;
}

uint64_t HashOfRows(const Tile& row, const std::vector<int64_t>& rows) {
  uint64_t hash = kNothingHashed;
  for (const int64_t offset : rows) {
    if (offset != kNoRow) hash = HashOf(Moved(row, offset), hash);
  }
  return hash;
}

}  // namespace

void Runner::Log(size_t core, const Instruction& i, Ticks start, Ticks end,
                 const Tile* dst, const std::vector<int64_t>* rows) {
  if (!options_.log) return;
  if (!disassembler_) disassembler_.emplace(program_);
  std::string line = absl::StrFormat(
      "core %d %s", core, disassembler_->Line(static_cast<int>(core), i));
  if (dst != nullptr && options_.values) {
    absl::StrAppendFormat(&line, " ; wrote %016x",
                          rows ? HashOfRows(*dst, *rows) : HashOf(*dst));
  }
  if (options_.order == Order::kTimed) {
    absl::StrAppendFormat(&line, " ; %.3f to %.3f ns",
                          static_cast<double>(start) / kTicksPerNs,
                          static_cast<double>(end) / kTicksPerNs);
  }
  options_.log(line);
}

}  // namespace trnemu
