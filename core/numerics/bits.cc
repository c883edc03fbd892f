// Raw bits of elements as 32-bit words.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/numerics/alu.h"

namespace trnemu {
namespace {

// Step: a number of bytes, a constant where elements are neighbours, so that
// the loop vectorizes.
template <typename T>
using Dense = std::integral_constant<ptrdiff_t, sizeof(T)>;

template <typename T, typename Step>
void LoadLoop(const std::byte* src, Step step, size_t n, uint32_t* out) {
  for (size_t i = 0; i < n; ++i) {
    T element;
    std::memcpy(&element, src + static_cast<ptrdiff_t>(i) * step, sizeof(T));
    out[i] = element;
  }
}

template <typename T, typename Step>
void StoreLoop(const uint32_t* in, size_t n, std::byte* dst, Step step) {
  for (size_t i = 0; i < n; ++i) {
    const T element = static_cast<T>(in[i]);
    std::memcpy(dst + static_cast<ptrdiff_t>(i) * step, &element, sizeof(T));
  }
}

template <typename T>
void Load(const std::byte* src, ptrdiff_t step, size_t n, uint32_t* out) {
  if (step == Dense<T>()) return LoadLoop<T>(src, Dense<T>(), n, out);
  LoadLoop<T>(src, step, n, out);
}

template <typename T>
void Store(const uint32_t* in, size_t n, std::byte* dst, ptrdiff_t step) {
  if (step == Dense<T>()) return StoreLoop<T>(in, n, dst, Dense<T>());
  StoreLoop<T>(in, n, dst, step);
}

}  // namespace

void LoadBits(Dtype dtype, const std::byte* src, ptrdiff_t stride_bytes,
              size_t n, uint32_t* out) {
  switch (SizeOf(dtype)) {
    case 1:
      return Load<uint8_t>(src, stride_bytes, n, out);
    case 2:
      return Load<uint16_t>(src, stride_bytes, n, out);
    default:
      return Load<uint32_t>(src, stride_bytes, n, out);
  }
}

void StoreBits(Dtype dtype, const uint32_t* in, size_t n, std::byte* dst,
               ptrdiff_t stride_bytes) {
  switch (SizeOf(dtype)) {
    case 1:
      return Store<uint8_t>(in, n, dst, stride_bytes);
    case 2:
      return Store<uint16_t>(in, n, dst, stride_bytes);
    default:
      return Store<uint32_t>(in, n, dst, stride_bytes);
  }
}

}  // namespace trnemu
