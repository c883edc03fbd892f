// A chain along a row is serial, so columns are transposed block by block, and
// each step is one call for a column of all rows.
#include "core/numerics/scan.h"

#include <algorithm>
#include <array>

#include "core/numerics/targets.h"
#include "hwy/highway.h"

// Four lanes need no more than the baseline, so nothing is dispatched.
HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Four = hn::FixedTag<float, 4>;

// to[i][0..4) = column i of the rows at from[0..4).
HWY_INLINE void Transpose4(const float* const* from, float* const* to) {
  const Four d;
  const hn::Repartition<uint64_t, Four> d64;
  const auto r0 = hn::LoadU(d, from[0]);
  const auto r1 = hn::LoadU(d, from[1]);
  const auto r2 = hn::LoadU(d, from[2]);
  const auto r3 = hn::LoadU(d, from[3]);
  // Pairs of rows: columns 0, 1 and columns 2, 3.
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, to[0]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, to[1]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d,
             to[2]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d,
             to[3]);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

namespace trnemu {
namespace {

constexpr size_t kColumns = 32;  // of a block
using Block = std::array<std::array<float, kScanRows>, kColumns>;

void Gather(const float* const* rows, size_t num_rows, size_t first,
            size_t columns, Block& block) {
  for (size_t r = 0; r < num_rows; r += 4) {
    size_t c = 0;
    for (; r + 4 <= num_rows && c + 4 <= columns; c += 4) {
      const size_t at = first + c;
      const float* const from[4] = {rows[r] + at, rows[r + 1] + at,
                                    rows[r + 2] + at, rows[r + 3] + at};
      float* const to[4] = {&block[c][r], &block[c + 1][r], &block[c + 2][r],
                            &block[c + 3][r]};
      HWY_STATIC_DISPATCH(Transpose4)(from, to);
    }
    for (; c < columns; ++c) {
      for (size_t i = r; i < std::min(r + 4, num_rows); ++i) {
        block[c][i] = rows[i][first + c];
      }
    }
  }
}

void Scatter(const Block& block, size_t num_rows, size_t first, size_t columns,
             float* const* rows) {
  for (size_t r = 0; r < num_rows; r += 4) {
    size_t c = 0;
    for (; r + 4 <= num_rows && c + 4 <= columns; c += 4) {
      const size_t at = first + c;
      const float* const from[4] = {&block[c][r], &block[c + 1][r],
                                    &block[c + 2][r], &block[c + 3][r]};
      float* const to[4] = {rows[r] + at, rows[r + 1] + at, rows[r + 2] + at,
                            rows[r + 3] + at};
      HWY_STATIC_DISPATCH(Transpose4)(from, to);
    }
    for (; c < columns; ++c) {
      for (size_t i = r; i < std::min(r + 4, num_rows); ++i) {
        rows[i][first + c] = block[c][i];
      }
    }
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
