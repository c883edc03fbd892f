#include "frontend/cli/version.h"

#include <hwy/targets.h>

#include "core/device.h"
#include "frontend/cli/common.h"

#ifndef TRNEMU_VERSION
#define TRNEMU_VERSION "0.1.0"
#endif

namespace trnemu::cli {
namespace {

std::string BuildType() {
#ifdef TRNEMU_BUILD_TYPE
  std::string type = TRNEMU_BUILD_TYPE;
#elif defined(NDEBUG)
  std::string type = "Release";
#else
  std::string type = "Debug";
#endif
#if defined(__SANITIZE_ADDRESS__)
  type += ", address sanitizer";
#elif defined(__SANITIZE_THREAD__)
  type += ", thread sanitizer";
#endif
  return type;
}

std::string Compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown compiler";
#endif
}

// Those of core/numerics/targets.h, which only suits files of kernels. The
// best is the lowest bit.
constexpr int64_t kKernelTargets = HWY_AVX2 | HWY_AVX3 | HWY_NEON;

// The best of the kernels' targets that this processor has.
std::string CpuTarget() {
  const std::string why = UnsupportedProcessor();
  if (!why.empty()) return Cat("none: ", why);
  const int64_t usable = hwy::SupportedTargets() & kKernelTargets;
  return usable == 0 ? "AVX2" : hwy::TargetName(usable & -usable);
}

}  // namespace

std::string VersionText() {
  return Cat("trnemu " TRNEMU_VERSION "\nbuild     ", BuildType(),
             "\ncompiler  ", Compiler(), "\nCPU       ", CpuTarget(), "\n");
}

}  // namespace trnemu::cli
