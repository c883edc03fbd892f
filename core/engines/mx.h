// Microscaling formats: where the scales of a tile lie.
//
// A group of 32 values, 8 partitions x the 4 of a packed element, shares a
// scale. A scale view starts at offset 0, 4, 8 or 12 of the quadrant in which
// its data start, and the four scale rows of each quadrant are the first four
// of 32 rows of the view (nki/deep-dives/mxfp-matmul.rst:107, 228). What lies
// between is never read nor written.
#ifndef TRNEMU_CORE_ENGINES_MX_H_
#define TRNEMU_CORE_ENGINES_MX_H_

#include <cstdint>

namespace trnemu {

inline constexpr int64_t kMxGroupPartitions = 8;
inline constexpr int64_t kMxPacked = 4;  // values of an element

// The row of the scale view for group `group` of 8 partitions of the data.
constexpr int64_t MxScaleRow(int64_t group) {
  return group / 4 * 32 + group % 4;
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_MX_H_
