// Choices between two values and other small loops, element by element.
#ifndef TRNEMU_CORE_NUMERICS_SELECT_H_
#define TRNEMU_CORE_NUMERICS_SELECT_H_

#include <cstddef>
#include <cstdint>

namespace trnemu {

// out[i] = mask[i] ? on_true[i] : on_false, bits; out may be an operand.
void SelectWords(const uint32_t* mask, const uint32_t* on_true,
                 uint32_t on_false, size_t n, uint32_t* out);
void SelectFloatsByWords(const uint32_t* mask, const float* on_true,
                         float on_false, size_t n, float* out);
// The same where neither number is 0; a NaN is not.
void SelectFloatsOfBoth(const float* mask0, const float* mask1,
                        const float* on_true, float on_false, size_t n,
                        float* out);
// take[i] = values[i] != 0, or the contrary, as 1 or 0.
void NonZero(const float* values, bool reverse, size_t n, uint32_t* take);
// out[i] = a[i] + b[i] as the host adds: no NaN is replaced.
void SumRows(const float* a, const float* b, size_t n, float* out);
// Whether a word is above `limit`.
bool AnyAbove(const uint32_t* words, size_t n, uint32_t limit);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_SELECT_H_
