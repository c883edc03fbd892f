// Rounding choices that documents leave open, other than the defaults: what the
// numerics keys reduce, two_ops and table_error select, and the envelope
// (core/envelope.h) tries.
#ifndef TRNEMU_CORE_NUMERICS_OPEN_CHOICES_H_
#define TRNEMU_CORE_NUMERICS_OPEN_CHOICES_H_

#include <cstddef>

#include "core/numerics/options.h"
#include "isa/vocabulary.h"

namespace trnemu {

// As ReduceRows, but add sums the row in `order` first: halves of halves (a
// row of n splits after its first (n + 1) / 2), or in fp64 in order, and adds
// that sum to the accumulator. Other operations are sequential in any case.
void ReduceRowsIn(Reduction order, AluOp op, const float* const* rows,
                  size_t num_rows, size_t n, float* acc);

// out = x * a + b, x * a - b or b - x * a (reverse), rounded once; out may be
// x. NaN results are the canonical one.
void MultiplyAddRow(const float* x, float a, AluOp op, bool reverse, float b,
                    size_t n, float* out);
// The same with an addend for each element; out may be either.
void MultiplyAddRows(const float* x, float a, AluOp op, bool reverse,
                     const float* b, size_t n, float* out);

// Whether f comes from a table on the scalar engine; the others are exact.
bool IsFromTable(ActFunction f);
// Adds an error of at most 1.5e-5 of each finite y[i]: a fixed fraction for all
// values whose top 16 bits are the same, as of a table's intervals, which the
// draw and f choose. Nothing for kNone, and where f is not from a table.
void AddTableError(TableError draw, ActFunction f, size_t n, float* y);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_OPEN_CHOICES_H_
