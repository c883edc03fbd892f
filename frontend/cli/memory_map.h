// trnemu verify --memory-map: where tiles are live.
#ifndef TRNEMU_FRONTEND_CLI_MEMORY_MAP_H_
#define TRNEMU_FRONTEND_CLI_MEMORY_MAP_H_

#include <string>

#include "absl/status/status.h"
#include "frontend/cli/common.h"
#include "isa/passes/memory_map.h"

namespace trnemu::cli {

// Writes the picture to an SVG file; nothing for "-", which is standard output.
absl::Status WriteMemoryMap(const std::string& path, const MemoryMap& map,
                            const Program& program);

// {"file": path or null, "memories": [...], "tiles": [...]}.
Json MemoryMapJson(const std::string& path, const MemoryMap& map,
                   const Program& program);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_MEMORY_MAP_H_
