// An instruction that computes rows and reduces each onto an accumulator.
#ifndef TRNEMU_CORE_ENGINES_FOLD_ROWS_H_
#define TRNEMU_CORE_ENGINES_FOLD_ROWS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/engines/rows.h"
#include "core/execution.h"
#include "core/numerics/alu.h"
#include "core/numerics/open_choices.h"

namespace trnemu {

// Partitions that are reduced side by side.
inline constexpr int64_t kFoldBlock = 16;

// Gives fold(first, count, rows) the rows of each block of partitions, of
// which compute(partition, buffer) computes and stores one: in fp32, before
// the cast, in `buffer` (of n elements) or wherever else it may stay until the
// block is done.
template <typename Compute, typename Fold>
void ForEachRowBlock(int64_t partitions, int64_t n, CoreState& state,
                     Compute compute, Fold fold) {
  float* const buffers =
      MatrixBuffer(state, 0, std::min(kFoldBlock, partitions) * n);
  std::array<const float*, kFoldBlock> rows;
  for (int64_t first = 0; first < partitions; first += kFoldBlock) {
    const int64_t count = std::min(kFoldBlock, partitions - first);
    for (int64_t i = 0; i < count; ++i) {
      rows[static_cast<size_t>(i)] = compute(first + i, buffers + i * n);
    }
    fold(first, count, rows.data());
  }
}

// acc[p] = (..(acc[p] op y[0])..) op y[n-1] for the row y of each partition.
template <typename Compute>
void FoldRows(AluOp op, int64_t partitions, int64_t n, float* accumulators,
              CoreState& state, Compute compute) {
  ForEachRowBlock(partitions, n, state, compute,
                  [&](int64_t first, int64_t count, const float* const* rows) {
                    ReduceRowsIn(state.numerics.reduce, op, rows,
                                 static_cast<size_t>(count),
                                 static_cast<size_t>(n), accumulators + first);
                  });
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_FOLD_ROWS_H_
