// What has been written: one shadow bit per byte of memory, and for PSUM who
// wrote each pair of bytes last.
//
// Elements are counted in the flat order of core/layout.h; a count of -1 means
// all from `first` on.
#ifndef TRNEMU_CORE_SHADOW_H_
#define TRNEMU_CORE_SHADOW_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/execution.h"

namespace trnemu {

inline constexpr int64_t kPsumBankBytes = 2048;  // of one partition

// `uninitialized` (memory.read_unwritten) if a byte of the elements has not
// been written, with the partition and the bytes. OK if there is no shadow.
absl::Status CheckWritten(const Tile& tile, std::string_view operand,
                          int64_t first = 0, int64_t count = -1);
// Whether all of them have been written, or nothing says so.
bool IsWritten(const Tile& tile, int64_t first = 0, int64_t count = -1);
void MarkWritten(const Tile& tile, int64_t first = 0, int64_t count = -1);

// Records the last writer of the elements; nothing outside PSUM.
void MarkPsum(const Tile& tile, PsumWriter writer, int64_t first = 0,
              int64_t count = -1);
// The set of the writers of the tile's elements, as bits 1 << PsumWriter. 0 if
// it has no state.
unsigned PsumWriters(const Tile& tile);
// The last writer of the element at a byte offset from the start of partition
// `partition` of the tile; kNothing if its bytes have different ones.
PsumWriter PsumWriterAt(const Tile& tile, int64_t partition, ptrdiff_t offset);

// "bytes 16 to 31 of partition 3 of psum, bank 0": the place of n bytes.
std::string DescribeBytes(const Tile& tile, int64_t partition, ptrdiff_t offset,
                          int64_t bytes);

}  // namespace trnemu

#endif  // TRNEMU_CORE_SHADOW_H_
