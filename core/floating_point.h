// The host's floating-point mode during a run: round to nearest even, no
// traps, subnormals kept (or flushed, by `--numerics subnormals=flush`).
// Restored afterwards.
#ifndef TRNEMU_CORE_FLOATING_POINT_H_
#define TRNEMU_CORE_FLOATING_POINT_H_

#include <cfenv>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace trnemu {

class CanonicalFloatingPoint {
 public:
  // FE_DFL_ENV sets MXCSR (FPCR on ARM) to its default: all of the above.
  explicit CanonicalFloatingPoint(bool flush_subnormals) {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
    if (flush_subnormals) Flush();
  }
  ~CanonicalFloatingPoint() { std::fesetenv(&saved_); }
  CanonicalFloatingPoint(const CanonicalFloatingPoint&) = delete;
  CanonicalFloatingPoint& operator=(const CanonicalFloatingPoint&) = delete;

 private:
  static void Flush() {
#if defined(__SSE2__)
    constexpr unsigned kFlushToZeroAndDenormalsAreZero = 0x8040;
    _mm_setcsr(_mm_getcsr() | kFlushToZeroAndDenormalsAreZero);
#elif defined(__aarch64__)
    unsigned long fpcr;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    asm volatile("msr fpcr, %0" : : "r"(fpcr | (1ul << 24)));
#endif
  }
  std::fenv_t saved_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_FLOATING_POINT_H_
