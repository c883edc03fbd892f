// Transposes of elements as bits.
#ifndef TRNEMU_CORE_NUMERICS_TRANSPOSE_H_
#define TRNEMU_CORE_NUMERICS_TRANSPOSE_H_

#include <cstddef>
#include <cstdint>

namespace trnemu {

// A matrix of elements of 1, 2 or 4 bytes that lie one after the other in a
// row; rows are `step` bytes apart.
template <typename Byte>
struct BytesOf {
  Byte* base;
  ptrdiff_t step;
};
using ByteMatrix = BytesOf<std::byte>;
using ConstByteMatrix = BytesOf<const std::byte>;

// to[c][r] = from[r][c]; the two do not overlap.
void TransposeBytes(unsigned element_bytes, ConstByteMatrix from, size_t rows,
                    size_t columns, ByteMatrix to);

// Whether n x n floating-point elements of uint16_t or uint32_t are `one` on
// the diagonal and zeros, of either sign, elsewhere.
template <typename Bits>
bool IsIdentity(ConstByteMatrix matrix, size_t n, Bits one);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_TRANSPOSE_H_
