// In blocks of 8 x 8, in a strip of eight columns at a time: the eight rows of
// the result are made in a buffer, since partitions of a tile lie a power of
// two apart and would drive each other out of the first-level cache.
#include "core/numerics/transpose.h"

#include <algorithm>
#include <cstring>

#include "core/numerics/targets.h"
#include "hwy/highway.h"

// Vectors of 16 bytes need no more than the baseline: nothing is dispatched.
HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr size_t kBlock = 8;
constexpr size_t kChunk = 128;  // rows of the source in a strip

// Interleaves the lanes of a and b, as wide as T.
template <typename T, class D, class V>
HWY_INLINE void Interleave(D d, V& a, V& b) {
  const hn::Repartition<T, D> dt;
  const auto x = hn::BitCast(dt, a);
  const auto y = hn::BitCast(dt, b);
  const auto low = hn::InterleaveLower(dt, x, y);
  const auto high = hn::InterleaveUpper(dt, x, y);
  a = hn::BitCast(d, low);
  b = hn::BitCast(d, high);
}

// 8 x 8 elements; rows of `to` are kChunk elements apart.
HWY_INLINE void Block(const std::byte* from, ptrdiff_t step, uint16_t* to) {
  const hn::FixedTag<uint16_t, kBlock> d;
  hn::Vec<decltype(d)> v[kBlock];
  for (size_t r = 0; r < kBlock; ++r) {
    v[r] = hn::LoadU(d, reinterpret_cast<const uint16_t*>(
                            from + static_cast<ptrdiff_t>(r) * step));
  }
  for (size_t r : {0, 2, 4, 6}) Interleave<uint16_t>(d, v[r], v[r + 1]);
  for (size_t r : {0, 1, 4, 5}) Interleave<uint32_t>(d, v[r], v[r + 2]);
  for (size_t r : {0, 1, 2, 3}) Interleave<uint64_t>(d, v[r], v[r + 4]);
  constexpr size_t kColumn[kBlock] = {0, 4, 2, 6, 1, 5, 3, 7};
  for (size_t r = 0; r < kBlock; ++r) {
    hn::StoreU(v[r], d, to + kColumn[r] * kChunk);
  }
}

HWY_INLINE void Block(const std::byte* from, ptrdiff_t step, uint32_t* to) {
  const hn::FixedTag<uint32_t, 4> d;
  for (size_t c = 0; c < kBlock; c += 4) {
    for (size_t r = 0; r < kBlock; r += 4) {
      hn::Vec<decltype(d)> v[4];
      for (size_t i = 0; i < 4; ++i) {
        v[i] = hn::LoadU(d, reinterpret_cast<const uint32_t*>(
                                from + static_cast<ptrdiff_t>(r + i) * step) +
                                c);
      }
      Interleave<uint32_t>(d, v[0], v[1]);
      Interleave<uint32_t>(d, v[2], v[3]);
      Interleave<uint64_t>(d, v[0], v[2]);
      Interleave<uint64_t>(d, v[1], v[3]);
      hn::StoreU(v[0], d, to + c * kChunk + r);
      hn::StoreU(v[2], d, to + (c + 1) * kChunk + r);
      hn::StoreU(v[1], d, to + (c + 2) * kChunk + r);
      hn::StoreU(v[3], d, to + (c + 3) * kChunk + r);
    }
  }
}

// A block that is not whole, and elements of one byte.
template <typename T>
void Elements(const std::byte* from, ptrdiff_t step, size_t rows,
              size_t columns, T* to) {
  for (size_t r = 0; r < rows; ++r) {
    const std::byte* const row = from + static_cast<ptrdiff_t>(r) * step;
    for (size_t c = 0; c < columns; ++c) {
      std::memcpy(to + c * kChunk + r, row + c * sizeof(T), sizeof(T));
    }
  }
}

template <typename T>
void Strip(const std::byte* from, ptrdiff_t step, size_t rows, size_t columns,
           T* to) {
  size_t r = 0;
  if constexpr (sizeof(T) > 1) {
    for (; columns == kBlock && r + kBlock <= rows; r += kBlock) {
      Block(from + static_cast<ptrdiff_t>(r) * step, step, to + r);
    }
  }
  Elements(from + static_cast<ptrdiff_t>(r) * step, step, rows - r, columns,
           to + r);
}

template <typename T>
void Transpose(ConstByteMatrix from, size_t rows, size_t columns,
               ByteMatrix to) {
  T strip[kBlock * kChunk];
  for (size_t c = 0; c < columns; c += kBlock) {
    const size_t wide = std::min(kBlock, columns - c);
    for (size_t r = 0; r < rows; r += kChunk) {
      const size_t high = std::min(kChunk, rows - r);
      Strip(from.base + static_cast<ptrdiff_t>(r) * from.step + c * sizeof(T),
            from.step, high, wide, strip);
      for (size_t i = 0; i < wide; ++i) {
        std::memcpy(
            to.base + static_cast<ptrdiff_t>(c + i) * to.step + r * sizeof(T),
            strip + i * kChunk, high * sizeof(T));
      }
    }
  }
}

void Dispatch(unsigned element_bytes, ConstByteMatrix from, size_t rows,
              size_t columns, ByteMatrix to) {
  switch (element_bytes) {
    case 1:
      return Transpose<uint8_t>(from, rows, columns, to);
    case 2:
      return Transpose<uint16_t>(from, rows, columns, to);
    default:
      return Transpose<uint32_t>(from, rows, columns, to);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

namespace trnemu {

void TransposeBytes(unsigned element_bytes, ConstByteMatrix from, size_t rows,
                    size_t columns, ByteMatrix to) {
  HWY_STATIC_DISPATCH(Dispatch)(element_bytes, from, rows, columns, to);
}

template <typename Bits>
bool IsIdentity(ConstByteMatrix matrix, size_t n, Bits one) {
  for (size_t r = 0; r < n; ++r) {
    const std::byte* const row =
        matrix.base + static_cast<ptrdiff_t>(r) * matrix.step;
    Bits others = 0;
    for (size_t c = 0; c < n; ++c) {
      Bits bits;
      std::memcpy(&bits, row + c * sizeof(Bits), sizeof(Bits));
      // Without the sign.
      others += static_cast<Bits>(bits << 1) != 0 ? Bits{1} : Bits{0};
    }
    Bits diagonal;
    std::memcpy(&diagonal, row + r * sizeof(Bits), sizeof(Bits));
    if (others != 1 || diagonal != one) return false;
  }
  return true;
}
template bool IsIdentity(ConstByteMatrix, size_t, uint16_t);
template bool IsIdentity(ConstByteMatrix, size_t, uint32_t);

}  // namespace trnemu
