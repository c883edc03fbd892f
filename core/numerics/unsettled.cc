#include "core/numerics/unsettled.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trnemu {
namespace {

constexpr size_t kBlock = 256;
constexpr uint32_t kMagnitude = 0x7fffffff;

// The first i for which bad(i) is not 0; blocks without one take a pass of or.
template <typename Bad>
size_t First(size_t n, Bad bad) {
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = std::min(n, begin + kBlock);
    uint32_t any = 0;
    for (size_t i = begin; i < end; ++i) any |= bad(i);
    if (any == 0) continue;
    for (size_t i = begin; i < end; ++i) {
      if (bad(i) != 0) return i;
    }
  }
  return n;
}

// Magnitudes, as bits of fp32, that round beyond the largest finite value.
uint32_t FirstTooLarge(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16:
      return std::bit_cast<uint32_t>(65520.0f);
    case Dtype::kBFloat16:
      return 0x7f7f8000;
    case Dtype::kTFloat32:
      return 0x7f7ff000;
    case Dtype::kFloat8E5M2:
      return std::bit_cast<uint32_t>(61440.0f);
    case Dtype::kFloat8E4M3:
      return std::bit_cast<uint32_t>(248.0f);
    case Dtype::kFloat8E4M3FN:  // 464 itself is a tie that goes to 448
      return std::bit_cast<uint32_t>(464.0f) + 1;
    default:
      return 0;
  }
}

constexpr uint32_t kInfinity32 = 0x7f800000;
constexpr uint32_t kLowest = 0xff7fffff;

// More significant bits than fp32 has: the lowest that is set lies 24 or more
// below the highest.
uint32_t IsInexact(uint32_t magnitude) {
  const uint32_t lowest = magnitude & (0 - magnitude);
  return static_cast<uint32_t>(magnitude >> 24 >= lowest) &
         static_cast<uint32_t>(magnitude != 0);
}

}  // namespace

size_t FirstInexactWord(const uint32_t* words, bool is_signed, size_t n) {
  if (!is_signed) {
    return First(n, [=](size_t i) { return IsInexact(words[i]); });
  }
  return First(n, [=](size_t i) {
    // The magnitude without a branch.
    const uint32_t mask = 0 - (words[i] >> 31);
    return IsInexact((words[i] ^ mask) - mask);
  });
}

bool CanOverflow(Dtype dtype) { return FirstTooLarge(dtype) != 0; }

size_t FirstOverflow(Dtype dtype, const float* row, size_t n) {
  const uint32_t low = FirstTooLarge(dtype);
  if (low == 0) return n;
  const uint32_t high =
      dtype == Dtype::kFloat8E4M3FN ? kInfinity32 + 1 : kInfinity32;
  const uint32_t span = high - low;
  return First(n, [=](size_t i) {
    const uint32_t bits = std::bit_cast<uint32_t>(row[i]);
    return static_cast<uint32_t>((bits & kMagnitude) - low < span) &
           static_cast<uint32_t>(bits != kLowest);
  });
}

size_t FirstIntegerOverflow(AluOp op, bool is_signed, const uint32_t* a,
                            const uint32_t* b, size_t n) {
  if (op == AluOp::kMultiply) {
    if (is_signed) {
      return First(n, [=](size_t i) {
        const int64_t product = int64_t{static_cast<int32_t>(a[i])} *
                                int64_t{static_cast<int32_t>(b[i])};
        return static_cast<uint32_t>(product != static_cast<int32_t>(product));
      });
    }
    return First(n, [=](size_t i) {
      return static_cast<uint32_t>((uint64_t{a[i]} * b[i]) >> 32);
    });
  }
  const bool subtract = op == AluOp::kSubtract;
  if (!subtract && op != AluOp::kAdd) return n;
  if (!is_signed) {
    return First(n, [=](size_t i) {
      return static_cast<uint32_t>(subtract ? a[i] < b[i] : a[i] + b[i] < a[i]);
    });
  }
  return First(n, [=](size_t i) {
    const uint32_t result = subtract ? a[i] - b[i] : a[i] + b[i];
    const uint32_t other = subtract ? ~b[i] : b[i];
    return ((a[i] ^ result) & (other ^ result)) >> 31;
  });
}

bool AnyMagnitude(const float* row, float limit, size_t n) {
  const uint32_t low = std::bit_cast<uint32_t>(limit);
  return First(n, [=](size_t i) {
           return static_cast<uint32_t>(
               (std::bit_cast<uint32_t>(row[i]) & kMagnitude) >= low);
         }) < n;
}

bool AnyProduct(const float* x, const float* y, float limit, size_t n) {
  const uint32_t low = std::bit_cast<uint32_t>(limit);
  return First(n, [=](size_t i) {
           return static_cast<uint32_t>(
               (std::bit_cast<uint32_t>(x[i] * y[i]) & kMagnitude) >= low);
         }) < n;
}

size_t FirstAtLeast(const uint32_t* words, uint32_t limit, size_t n) {
  return First(
      n, [=](size_t i) { return static_cast<uint32_t>(words[i] >= limit); });
}

size_t FirstBf16NotFinite(const std::byte* row, size_t n) {
  return First(n, [=](size_t i) {
    uint16_t code = 0;
    std::memcpy(&code, row + 2 * i, 2);
    return static_cast<uint32_t>((code & 0x7f80) == 0x7f80);
  });
}

size_t FirstWithoutReciprocal(const float* row, size_t n) {
  return First(n, [=](size_t i) {
    const uint32_t bits = std::bit_cast<uint32_t>(row[i]) & kMagnitude;
    return static_cast<uint32_t>(bits < 0x00800000);
  });
}

}  // namespace trnemu
