// What the parts of the tensor engine share.
#ifndef TRNEMU_CORE_ENGINES_MATMUL_H_
#define TRNEMU_CORE_ENGINES_MATMUL_H_

#include <cstddef>

#include "core/execution.h"

namespace trnemu {

// An operand as a matrix, a partition a row.
struct Matrix {
  const float* values;
  size_t stride;  // elements
};

// The tile as fp32: where it lies, or in matrix buffer `index`.
Matrix FloatMatrix(const Tile& tile, size_t index, CoreState& state);

// The transpose mode from trn2 on: dst[m][n] gets the bits of the row of
// `loaded`, column m, that column n of the identity `moving` selects.
void TransposeInto(const Tile& dst, const Tile& moving, LoadedTile& loaded,
                   CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_MATMUL_H_
