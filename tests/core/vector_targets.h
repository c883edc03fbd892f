// Runs a check on each vector target that this processor has.
#ifndef TRNEMU_TESTS_CORE_VECTOR_TARGETS_H_
#define TRNEMU_TESTS_CORE_VECTOR_TARGETS_H_

#include <cstdint>

#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace trnemu {

// Calls check() with the kernels forced to AVX2, AVX-512 and NEON in turn,
// as far as the processor has them, then restores the choice.
template <typename Check>
void OnEachTarget(Check check) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t target : {HWY_AVX2, HWY_AVX3, HWY_NEON}) {
    if ((supported & target) == 0) continue;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace trnemu

#endif  // TRNEMU_TESTS_CORE_VECTOR_TARGETS_H_
