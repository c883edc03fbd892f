// The host's floating-point mode during a run: round to nearest even, no
// flushing of subnormals, no traps. Restored afterwards.
#ifndef TRNEMU_CORE_FLOATING_POINT_H_
#define TRNEMU_CORE_FLOATING_POINT_H_

#include <cfenv>

namespace trnemu {

class CanonicalFloatingPoint {
 public:
  // FE_DFL_ENV sets MXCSR (FPCR on ARM) to its default, which is all of that.
  CanonicalFloatingPoint() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~CanonicalFloatingPoint() { std::fesetenv(&saved_); }
  CanonicalFloatingPoint(const CanonicalFloatingPoint&) = delete;
  CanonicalFloatingPoint& operator=(const CanonicalFloatingPoint&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_FLOATING_POINT_H_
