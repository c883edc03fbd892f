// Data on which a result depends that no document settles: the first element
// of a row that shows it, n if none does. One pass that vectorises, so that
// asking costs little where nothing is found.
#ifndef TRNEMU_CORE_NUMERICS_UNSETTLED_H_
#define TRNEMU_CORE_NUMERICS_UNSETTLED_H_

#include <cstddef>
#include <cstdint>

#include "isa/dtype.h"
#include "isa/vocabulary.h"

namespace trnemu {

// int32 or uint32 (words) that fp32 does not hold.
size_t FirstInexactWord(const uint32_t* words, bool is_signed, size_t n);

// Whether a cast to `dtype` can overflow to infinity or NaN, and where a
// finite value does (of float8_e4m3fn, which has no infinity, an infinite one
// as well). The lowest fp32 does not count: documents say what it becomes.
bool CanOverflow(Dtype dtype);
size_t FirstOverflow(Dtype dtype, const float* row, size_t n);

// A 32-bit add, subtract or multiply whose result does not fit.
size_t FirstIntegerOverflow(AluOp op, bool is_signed, const uint32_t* a,
                            const uint32_t* b, size_t n);

// Whether a magnitude is at least `limit` (NaN's is).
bool AnyMagnitude(const float* row, float limit, size_t n);
// Whether the magnitude of a product of two rows is.
bool AnyProduct(const float* x, const float* y, float limit, size_t n);

// Words of at least `limit`.
size_t FirstAtLeast(const uint32_t* words, uint32_t limit, size_t n);

// Of n bfloat16: an infinity or a NaN.
size_t FirstBf16NotFinite(const std::byte* row, size_t n);

// +-0 or a subnormal.
size_t FirstWithoutReciprocal(const float* row, size_t n);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_UNSETTLED_H_
