// Casts between fp32, in which the engines compute, and the storage formats.
//
// Rules (spec/numerics.md 3, 15; tags as there):
//  * to fp32: exact, except integers above 2^24 in magnitude, which round to
//    nearest even. [inferred]
//  * to integers: round to nearest even, then saturate. [documented] NaN
//    gives 0. [assumed: 15.2; FirstNan lets a caller report it]
//  * to float16, bfloat16, float8_e4m3, float8_e5m2: round to nearest even,
//    overflow to infinity. [documented for -FLT_MAX, else assumed: 15.4]
//  * to float8_e4m3fn: above 464 (the midpoint of 448 and the missing 480)
//    and infinity: NaN, or 448 by option. [assumed: 15.3]
//  * tfloat32 is fp32 whose low 13 bits are rounded away (or cut, by option)
//    both when written and when read. [assumed: 15.7]
//  * bool: anything but +-0 is 1, NaN too. [assumed: 15.23]
//  * float8_e8m0fnu reads as 2^(code-127), code 255 as NaN. [documented]
//    Writing rounds to the nearest power of two, a tie (1.5 * 2^k) upwards as
//    ml_dtypes does; +-0 gives code 0; a negative, infinite, NaN or too
//    large (>= 1.5 * 2^127) value gives 255. [assumed]
//  * NaN stays NaN and keeps its sign. bfloat16 and float16 keep the top
//    payload bits and set the quiet bit; fp8 NaNs are written as 0x7C (e4m3),
//    0x7E (e5m2), 0x7F (e4m3fn). float32 to float32 moves bits. [assumed]
//  * Subnormals are kept, or become signed zeros by option: those of the
//    format read or written, whichever it is. [assumed: 15.1]
// The bits are the same on every host: all is integer or IEEE arithmetic.
#ifndef TRNEMU_CORE_NUMERICS_CONVERT_H_
#define TRNEMU_CORE_NUMERICS_CONVERT_H_

#include <cstddef>

#include "core/numerics/options.h"
#include "isa/dtype.h"

namespace trnemu {

// Widens n elements of `dtype` (any but the packed ones), `stride_bytes` apart
// from `src`, to out[0..n). The stride may be 0 or negative; src needs no
// alignment. `out` must not overlap the source.
void WidenRow(Dtype dtype, const std::byte* src, ptrdiff_t stride_bytes,
              size_t n, const NumericsOptions& options, float* out);

// Narrows in[0..n) to `dtype` (any but the packed ones), stored `stride_bytes`
// apart from `dst`. `in` must not overlap the destination.
void NarrowRow(const float* in, size_t n, Dtype dtype, std::byte* dst,
               ptrdiff_t stride_bytes, const NumericsOptions& options);

// The index of the first NaN in in[0..n), or n: what a cast to an integer
// leaves unspecified.
size_t FirstNan(const float* in, size_t n);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_CONVERT_H_
