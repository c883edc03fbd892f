// Which instructions of a program write given bytes, for reports of bytes that
// nothing has written, or that the wrong instruction has.
//
// Found by looking through the program, not during the run: exact for static
// addresses. What a register or an index moves counts as "may".
#ifndef TRNEMU_CORE_WRITERS_H_
#define TRNEMU_CORE_WRITERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "isa/program.h"

namespace trnemu {

// Bytes [begin, end) of a partition of a core's memory, or of an HBM tensor.
struct ByteRange {
  Space space = Space::kInvalid;
  size_t core = 0;      // on chip
  uint32_t tensor = 0;  // HBM
  int64_t partition = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

enum class Touch : uint8_t { kNo, kMay, kYes };

// Whether an access of `core` has bytes of the range.
Touch Touches(const Program& program, size_t core, const Access& access,
              const ByteRange& range);

struct Writer {
  size_t core = 0;
  const Instruction* instruction = nullptr;
  Access access;
  Touch touch = Touch::kNo;  // of the range
};

// The writers of bytes of the range, and those of other bytes of `tensor`.
// In the order of the streams.
std::vector<Writer> FindWriters(const Program& program, uint32_t tensor,
                                const ByteRange& range);

// "instruction 3, dma_copy on the sync engine of core 0, at kernel.py:7".
std::string DescribeWriter(const Program& program, const Writer& writer);
// "bytes 0 to 63 of partitions 0 to 126": what its access covers at most.
std::string DescribeBox(const Program& program, const Writer& writer);

}  // namespace trnemu

#endif  // TRNEMU_CORE_WRITERS_H_
