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

// More significant bits than fp32 has. Whole numbers below 2^24 have not.
uint32_t IsInexact(uint32_t magnitude) {
  if (magnitude <= 1u << 24) return 0;
  const int excess = std::bit_width(magnitude) - 24;
  return (magnitude & ((1u << excess) - 1)) != 0;
}

uint32_t Magnitude(uint32_t word, bool is_signed) {
  return is_signed && static_cast<int32_t>(word) < 0 ? 0 - word : word;
}

}  // namespace

size_t FirstInexactWord(const uint32_t* words, bool is_signed, size_t n) {
  // Most words are small: those of more than 24 bits are looked at again.
  const uint32_t offset = is_signed ? 1u << 24 : 0;
  const uint32_t span = is_signed ? 1u << 25 : 1u << 24;
  size_t at = 0;
  while (at < n) {
    at += First(n - at, [=](size_t i) {
      return static_cast<uint32_t>(words[at + i] + offset > span);
    });
    if (at < n && IsInexact(Magnitude(words[at], is_signed)) != 0) return at;
    if (at < n) ++at;
  }
  return n;
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
