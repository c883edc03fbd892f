// Raw bits of elements as 32-bit words.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/numerics/alu.h"

namespace trnemu {
namespace {

template <typename T>
void LoadStrided(const std::byte* src, ptrdiff_t stride_bytes, size_t n,
                 uint32_t* out) {
  for (size_t i = 0; i < n; ++i) {
    T element;
    std::memcpy(&element, src + static_cast<ptrdiff_t>(i) * stride_bytes,
                sizeof(T));
    out[i] = element;
  }
}

template <typename T>
void StoreStrided(const uint32_t* in, size_t n, std::byte* dst,
                  ptrdiff_t stride_bytes) {
  for (size_t i = 0; i < n; ++i) {
    const T element = static_cast<T>(in[i]);
    std::memcpy(dst + static_cast<ptrdiff_t>(i) * stride_bytes, &element,
                sizeof(T));
  }
}

}  // namespace

void LoadBits(Dtype dtype, const std::byte* src, ptrdiff_t stride_bytes,
              size_t n, uint32_t* out) {
  switch (SizeOf(dtype)) {
    case 1:
      return LoadStrided<uint8_t>(src, stride_bytes, n, out);
    case 2:
      return LoadStrided<uint16_t>(src, stride_bytes, n, out);
    default:
      return LoadStrided<uint32_t>(src, stride_bytes, n, out);
  }
}

void StoreBits(Dtype dtype, const uint32_t* in, size_t n, std::byte* dst,
               ptrdiff_t stride_bytes) {
  switch (SizeOf(dtype)) {
    case 1:
      return StoreStrided<uint8_t>(in, n, dst, stride_bytes);
    case 2:
      return StoreStrided<uint16_t>(in, n, dst, stride_bytes);
    default:
      return StoreStrided<uint32_t>(in, n, dst, stride_bytes);
  }
}

}  // namespace trnemu
