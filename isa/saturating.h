// Arithmetic on sizes that come from untrusted files: results stick at the
// ends of int64 instead of wrapping, so that a later comparison with a limit
// is right.
#ifndef TRNEMU_ISA_SATURATING_H_
#define TRNEMU_ISA_SATURATING_H_

#include <cstdint>
#include <limits>

namespace trnemu {

constexpr int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return a > 0 ? std::numeric_limits<int64_t>::max()
               : std::numeric_limits<int64_t>::min();
}

}  // namespace trnemu

#endif  // TRNEMU_ISA_SATURATING_H_
