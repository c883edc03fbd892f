// The host memory that a run may come to use, known before any is allocated.
#ifndef TRNEMU_CORE_HOST_MEMORY_H_
#define TRNEMU_CORE_HOST_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/run.h"
#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

struct HostMemoryNeed {
  std::string what;
  int64_t bytes = 0;
};

// What a run of `program` needs at most, by use: tensors in HBM, tiles in SBUF
// and PSUM, their shadow, copies of outputs and of inout tensors, the program.
// SBUF and PSUM count as far as tiles reach into them, since the rest is never
// touched. Not counted: the process itself, engines' row buffers (at most
// 64 MB a core), and what the caller holds, its inputs.
std::vector<HostMemoryNeed> HostMemoryNeeds(const Program& program,
                                            const Hardware& hardware,
                                            const RunOptions& options);

// `limit` (limit.host_memory), with a line for each need and the largest
// tensors, if together they are more than options.max_host_bytes; `input`
// (option.max_host_memory) if that is negative.
absl::Status CheckHostMemory(const Program& program, const Hardware& hardware,
                             const RunOptions& options);

}  // namespace trnemu

#endif  // TRNEMU_CORE_HOST_MEMORY_H_
