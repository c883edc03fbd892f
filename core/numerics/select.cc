// Plain loops, without branches so that the compiler makes vectors of them.
#include "core/numerics/select.h"

#include <bit>

namespace trnemu {
namespace {

// All ones or all zeros.
uint32_t MaskOf(bool condition) { return 0u - (condition ? 1u : 0u); }

uint32_t Choose(uint32_t mask, uint32_t on_true, uint32_t on_false) {
  return (on_true & mask) | (on_false & ~mask);
}

}  // namespace

void SelectWords(const uint32_t* mask, const uint32_t* on_true,
                 uint32_t on_false, size_t n, uint32_t* out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = Choose(MaskOf(mask[i] != 0), on_true[i], on_false);
  }
}

void SelectFloatsByWords(const uint32_t* mask, const float* on_true,
                         float on_false, size_t n, float* out) {
  const uint32_t other = std::bit_cast<uint32_t>(on_false);
  for (size_t i = 0; i < n; ++i) {
    out[i] = std::bit_cast<float>(Choose(
        MaskOf(mask[i] != 0), std::bit_cast<uint32_t>(on_true[i]), other));
  }
}

void SelectFloatsOfBoth(const float* mask0, const float* mask1,
                        const float* on_true, float on_false, size_t n,
                        float* out) {
  const uint32_t other = std::bit_cast<uint32_t>(on_false);
  for (size_t i = 0; i < n; ++i) {
    out[i] = std::bit_cast<float>(
        Choose(MaskOf(mask0[i] != 0) & MaskOf(mask1[i] != 0),
               std::bit_cast<uint32_t>(on_true[i]), other));
  }
}

void NonZero(const float* values, bool reverse, size_t n, uint32_t* take) {
  const uint32_t flip = reverse ? 1 : 0;
  for (size_t i = 0; i < n; ++i) take[i] = (values[i] != 0 ? 1u : 0u) ^ flip;
}

void SumRows(const float* a, const float* b, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

bool AnyAbove(const uint32_t* words, size_t n, uint32_t limit) {
  uint32_t above = 0;
  for (size_t i = 0; i < n; ++i) above |= words[i] > limit ? 1u : 0u;
  return above != 0;
}

}  // namespace trnemu
