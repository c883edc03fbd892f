// The ALU operations on rows of elements.
//
// fp32 rules (spec/numerics.md 4, 15; tags as there):
//  * add, subtract, multiply, square, reciprocal: IEEE, to nearest even.
//    rsqrt is 1/sqrt(x) computed in double and rounded once. [assumed]
//  * comparisons are IEEE (false with NaN, except not_equal) and give 1 or 0.
//    Logical operations take x != 0, so NaN is true. [assumed: 15.5]
//  * maximum, minimum return the operand that is not NaN; a tie, +0 with -0
//    too, returns the second operand. [assumed: 15.5; tie as documented for
//    abs_max] abs_max, abs_min compare magnitudes and return the winner with
//    its sign, a tie returns the second operand. [documented] NaN as maximum.
//  * relu is maximum(x, +0): NaN and -0 give +0. [assumed]
//  * power follows IEEE 754 pow, specials too, within 0.500002 ulp; exact
//    results, ties and the powers 2, -1, 1/2, -1/2 are correctly rounded.
//    [assumed]
//  * Every NaN that an operation returns is 0x7FC00000, since hosts differ in
//    which operand's payload and which sign survive. [assumed]
// `out` may be `a` or `b`, but must not otherwise overlap them.
#ifndef TRNEMU_CORE_NUMERICS_ALU_H_
#define TRNEMU_CORE_NUMERICS_ALU_H_

#include <cstddef>
#include <cstdint>

#include "isa/dtype.h"
#include "isa/vocabulary.h"

namespace trnemu {

// ---- fp32 ----

// An operation is looked up once an instruction, with the host's vectors, and
// then called for each row.
using BinaryRow = void (*)(const float* a, const float* b, size_t n,
                           float* out);
using ScalarRow = void (*)(const float* a, float b, size_t n, float* out);

// out[i] = a[i] op b[i], for a binary arithmetic op.
BinaryRow BinaryRowOf(AluOp op);
// out[i] = a[i] op b, or b op a[i] if `reverse`; op a[i] for a unary op.
ScalarRow ScalarRowOf(AluOp op, bool reverse);

// The same for a single row.
inline void AluRows(AluOp op, const float* a, const float* b, size_t n,
                    float* out) {
  BinaryRowOf(op)(a, b, n, out);
}
inline void AluRowScalar(AluOp op, const float* a, float b, bool reverse,
                         size_t n, float* out) {
  ScalarRowOf(op, reverse)(a, b, n, out);
}
inline void AluRowUnary(AluOp op, const float* a, size_t n, float* out) {
  ScalarRowOf(op, false)(a, 0, n, out);
}

// bfloat16 in, fp32 inside, bfloat16 out, in one pass: what WidenRow, AluRows
// and NarrowRow give with subnormals kept. Null if `op` has no such path.
using Bf16Row = void (*)(const uint16_t* a, const uint16_t* b, size_t n,
                         uint16_t* out);
Bf16Row Bf16RowOf(AluOp op);

// The same for a single row. False, and nothing is done, without a path.
inline bool AluRowsBf16(AluOp op, const uint16_t* a, const uint16_t* b,
                        size_t n, uint16_t* out) {
  const Bf16Row row = Bf16RowOf(op);
  if (row != nullptr) row(a, b, n, out);
  return row != nullptr;
}

// ---- raw bits ----

// Bitvec operations on contiguous unsigned elements of 1, 2 or 4 bytes. Shifts
// are logical, b is the amount, and amounts of the width or more give 0
// [assumed: 15.10].
void BitvecRows(AluOp op, unsigned element_bytes, const std::byte* a,
                const std::byte* b, size_t n, std::byte* out);
// The same with one scalar, of which the low bits of the element count.
void BitvecRowScalar(AluOp op, unsigned element_bytes, const std::byte* a,
                     uint32_t b, bool reverse, size_t n, std::byte* out);
// invert
void BitvecRowUnary(AluOp op, unsigned element_bytes, const std::byte* a,
                    size_t n, std::byte* out);

// The raw bits of n elements, zero-extended whatever the dtype's sign.
void LoadBits(Dtype dtype, const std::byte* src, ptrdiff_t stride_bytes,
              size_t n, uint32_t* out);
// Stores the low bits of each.
void StoreBits(Dtype dtype, const uint32_t* in, size_t n, std::byte* dst,
               ptrdiff_t stride_bytes);

// ---- 32-bit integers (GpSimd) ----

// Whether IntegerRows has `op`: add, subtract, multiply, maximum, minimum,
// comparisons, logical operations, abs_max and abs_min.
constexpr bool HasIntegerAlu(AluOp op) {
  return (op >= AluOp::kAdd && op <= AluOp::kLogicalXor) ||
         op == AluOp::kAbsMax || op == AluOp::kAbsMin;
}
// out[i] = a[i] op b[i], exact modulo 2^32 [assumed: 15.9]; comparisons give 1
// or 0. Signedness matters to maximum, minimum, the orderings and magnitudes
// (that of -2^31 is 2^31).
void IntegerRows(AluOp op, bool is_signed, const uint32_t* a, const uint32_t* b,
                 size_t n, uint32_t* out);
void IntegerRowScalar(AluOp op, bool is_signed, const uint32_t* a, uint32_t b,
                      bool reverse, size_t n, uint32_t* out);

// ---- reductions ----

// acc[r] = (..((acc[r] op rows[r][0]) op rows[r][1]) ..) op rows[r][n-1], each
// step rounded to fp32: strictly in order, as tensor_reduce add was seen to do
// on silicon. For subtract (a0 - a1 - ...) the caller seeds acc with a0.
// Any binary arithmetic op but power.
void ReduceRows(AluOp op, const float* const* rows, size_t num_rows, size_t n,
                float* acc);

// What an accumulator is reset to: 0 for add and subtract, 1 for multiply,
// -inf and +inf for maximum and minimum [documented], 1 for logical_and, 0
// for logical_or and logical_xor, 0 for abs_max, +inf for abs_min.
float ReduceIdentity(AluOp op);

// The same on 32-bit words, for a bitwise or integer reduction of one row.
uint32_t ReduceWords(AluOp op, bool is_signed, const uint32_t* row, size_t n,
                     uint32_t acc);
// All ones for bitwise_and, the extreme of the type for maximum and minimum.
uint32_t ReduceIdentityWord(AluOp op, bool is_signed);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_ALU_H_
