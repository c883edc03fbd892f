#include "core/numerics/activation.h"

#include <cmath>

#include "core/numerics/activation_rows.h"

namespace trnemu {

void ActivationRow(ActFunction f, const float* x, size_t n, float* y) {
  switch (f) {
    case ActFunction::kExp:
      return activation::ExpRow(x, n, y);
    case ActFunction::kPrelu:
      return activation::PreluRow(x, n, 0.0f, y);
    case ActFunction::kLog:
    case ActFunction::kSin:
    case ActFunction::kArctan:
      return activation::ElementaryRow(f, x, n, y);
    case ActFunction::kErf:
    case ActFunction::kErfDx:
    case ActFunction::kGelu:
    case ActFunction::kGeluDx:
      return activation::GaussianRow(f, x, n, y);
    case ActFunction::kSigmoid:
    case ActFunction::kSilu:
    case ActFunction::kSiluDx:
    case ActFunction::kGeluApprxTanh:
    case ActFunction::kGeluApprxSigmoid:
    case ActFunction::kGeluApprxSigmoidDx:
    case ActFunction::kTanh:
    case ActFunction::kSoftplus:
    case ActFunction::kMish:
      return activation::LogisticRow(f, x, n, y);
    default:
      return activation::ExactRow(f, x, n, y);
  }
}

void PreluRow(const float* x, size_t n, float slope, float* y) {
  activation::PreluRow(x, n, slope, y);
}

size_t FirstOutsideValidRange(ActFunction f, const float* x, size_t n) {
  const ActInfo& info = Info(f);
  if (std::isinf(info.low) && std::isinf(info.high)) return n;
  const activation::Limits limits = {
      .low = static_cast<float>(info.low),
      .high = static_cast<float>(info.high),
      .magnitude = info.magnitude,
      .zero = f == ActFunction::kSqrt,
  };
  return activation::FirstOutside(limits, x, n);
}

}  // namespace trnemu
