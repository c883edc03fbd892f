// A chain along a row is serial, so columns are transposed block by block, and
// each step is one call for a column of all rows.
#include "core/numerics/scan.h"

#include <algorithm>
#include <array>

namespace trnemu {
namespace {

constexpr size_t kColumns = 32;  // of a block
using Block = std::array<std::array<float, kScanRows>, kColumns>;

void Gather(const float* const* rows, size_t num_rows, size_t first,
            size_t columns, Block& block) {
  for (size_t r = 0; r < num_rows; ++r) {
    const float* const row = rows[r] + first;
    for (size_t c = 0; c < columns; ++c) block[c][r] = row[c];
  }
}

void Scatter(const Block& block, size_t num_rows, size_t first, size_t columns,
             float* const* rows) {
  for (size_t r = 0; r < num_rows; ++r) {
    float* const row = rows[r] + first;
    for (size_t c = 0; c < columns; ++c) row[c] = block[c][r];
  }
}

}  // namespace

void ScanRows(std::span<const ScanStep> steps, size_t num_rows, size_t n,
              float* state, float* const* out) {
  std::array<Block, 2> operands;
  Block results;
  for (size_t first = 0; first < n; first += kColumns) {
    const size_t columns = std::min(kColumns, n - first);
    for (size_t s = 0; s < steps.size(); ++s) {
      Gather(steps[s].rows, num_rows, first, columns, operands[s]);
    }
    const float* from = state;
    for (size_t c = 0; c < columns; ++c) {
      float* const to = results[c].data();
      for (size_t s = 0; s < steps.size(); ++s) {
        const float* const x = operands[s][c].data();
        steps[s].op(steps[s].state_first ? from : x,
                    steps[s].state_first ? x : from, num_rows, to);
        from = to;
      }
    }
    std::copy(from, from + num_rows, state);
    Scatter(results, num_rows, first, columns, out);
  }
}

}  // namespace trnemu
