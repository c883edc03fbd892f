// What a run adds to operands (isa/access.h, Indirection): reading indices and
// checking them.
//
// An index out of bounds is access.dynamic_out_of_bounds, or, where the
// instruction says oob_mode skip, leaves its row (or all, if there is one
// index) as it is. Negative ones are out of bounds (assumed: no document says
// otherwise).
#ifndef TRNEMU_CORE_DYNAMIC_H_
#define TRNEMU_CORE_DYNAMIC_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/execution.h"
#include "isa/program.h"

namespace trnemu {

// The row of an index that is out of bounds.
inline constexpr int64_t kNoRow = INT64_MIN;

// The tile, `bytes` further on in each partition.
Tile Moved(const Tile& tile, int64_t bytes);

// Element `j` of partition `p` of a tile of 16- or 32-bit integers.
int64_t IndexAt(const Tile& tile, int64_t p, int64_t j);

// Reads the indices of one operand.
class IndexReader {
 public:
  // `index` is the place of the index tile, unless the index is in a register.
  // `operand` and `tensor` are names, for diagnostics.
  IndexReader(const Indirection& indirection, const Tile& index,
              std::span<const int32_t> registers, std::string_view operand,
              std::string_view tensor, OobMode mode, CoreState& state)
      : indirection_(indirection),
        index_(index),
        registers_(registers),
        operand_(operand),
        tensor_(tensor),
        mode_(mode),
        state_(state) {}

  // Bytes that one index of a scalar moves an access by, in elements of
  // `element_bytes`; kNoRow if it is out of bounds and skipped.
  absl::Status ReadScalar(int64_t element_bytes, int64_t& bytes);
  // The same of each of `count` rows.
  absl::Status ReadRows(int64_t element_bytes, int64_t count,
                        std::vector<int64_t>& bytes);
  // Of kTensor: element i of partition p at bytes[p * count + i]; groups of
  // `group` partitions share a list.
  absl::Status ReadOffsets(int64_t element_bytes, int64_t partitions,
                           int64_t count, int64_t group,
                           std::vector<int64_t>& bytes);

 private:
  // The first `count` indices.
  absl::Status CheckIndexWritten(int64_t count);
  // Turns the index at `position` (partition p, element j) into bytes.
  absl::Status Place(int64_t value, int64_t position, int64_t element_bytes,
                     int64_t& bytes) const;

  const Indirection& indirection_;
  const Tile& index_;
  std::span<const int32_t> registers_;
  std::string_view operand_;
  std::string_view tensor_;
  OobMode mode_;
  CoreState& state_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_DYNAMIC_H_
