// Recurrences along rows: each element of a row is combined with the result
// that the one before it left.
#ifndef TRNEMU_CORE_NUMERICS_SCAN_H_
#define TRNEMU_CORE_NUMERICS_SCAN_H_

#include <cstddef>
#include <span>

#include "core/numerics/alu.h"

namespace trnemu {

// Rows that run abreast, at most.
inline constexpr size_t kScanRows = 32;

// state = rows[r][i] op state, or state op rows[r][i] if `state_first`.
struct ScanStep {
  BinaryRow op;
  bool state_first;
  const float* const* rows;
};

// For each row r < num_rows, at most kScanRows, and each i < n in order: takes
// the steps (one or two) on state[r], each rounded to fp32, and stores it in
// out[r][i]. An output row may be a row of a step, but must not otherwise
// overlap one.
void ScanRows(std::span<const ScanStep> steps, size_t num_rows, size_t n,
              float* state, float* const* out);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_SCAN_H_
