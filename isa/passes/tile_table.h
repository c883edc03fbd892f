// Tiles as rows of an aligned table, for reports of what does not fit.
#ifndef TRNEMU_ISA_PASSES_TILE_TABLE_H_
#define TRNEMU_ISA_PASSES_TILE_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "isa/program.h"

namespace trnemu {

struct TileRow {
  uint32_t tensor = 0;
  std::optional<int64_t> address;  // byte in its partition, where known
  // First and last instruction that uses it, where known.
  std::optional<std::pair<uint32_t, uint32_t>> used;
};

// Biggest first, a line each: name, bytes per partition, address, shape and
// dtype, instructions, source. After 64 of them "and N more, M bytes per
// partition".
std::vector<std::string> TileTable(const Program& program,
                                   std::vector<TileRow> rows);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_TILE_TABLE_H_
