// What Allocate says when tiles do not fit.
#ifndef TRNEMU_ISA_PASSES_CAPACITY_H_
#define TRNEMU_ISA_PASSES_CAPACITY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "isa/diagnostic.h"
#include "isa/draft.h"
#include "isa/hardware.h"
#include "isa/passes/placement.h"

namespace trnemu {

// A memory's usable size and where it comes from.
struct Limit {
  Space space = Space::kInvalid;
  int64_t bytes = 0;     // per partition
  std::string constant;  // its path in the hardware description
};
Limit LimitOf(Space space, const Program& program, const Hardware& hardware);
// What the hardware description says about where it comes from; "" if nothing.
std::string SourceOfLimit(const Hardware& hardware, const Limit& limit);
// Target, memory, limit, its constant and source, as details of a report.
void DescribeLimit(const Hardware& hardware, const Limit& limit, Diagnostic& d);

// `tiles[failed]` found no room: a table of the tiles live where most is
// missing, or where it was to go.
absl::Status DoesNotFit(const Draft& draft, const Hardware& hardware,
                        const Limit& limit, uint32_t core,
                        const std::vector<LiveTile>& obstacles,
                        const std::vector<LiveTile>& tiles, size_t failed);
// Tile `tensor`, at byte `address`, ends after the limit: with a table of all
// tiles of its memory.
absl::Status EndsOutside(const Draft& draft, const Hardware& hardware,
                         const Limit& limit, const Tensor& tensor,
                         int64_t address);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_CAPACITY_H_
