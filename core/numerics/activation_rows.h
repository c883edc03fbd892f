// The families of activation functions behind ActivationRow, one file each.
// Private to core/numerics.

#ifndef TRNEMU_CORE_NUMERICS_ACTIVATION_ROWS_H_
#define TRNEMU_CORE_NUMERICS_ACTIVATION_ROWS_H_

#include <cstddef>

#include "core/numerics/activation.h"
#include "core/numerics/targets.h"  // before any Highway header

namespace trnemu::activation {

// copy, square, relu, sqrt, rsqrt, reciprocal, sign, abs: an instruction or
// two.
void ExactRow(ActFunction f, const float* x, size_t n, float* y);
void PreluRow(const float* x, size_t n, float slope, float* y);

// A range of valid inputs: of |x| if `magnitude`; `zero` is inside besides.
struct Limits {
  float low, high;
  bool magnitude, zero;
};
// The index of the first x outside, n if none.
size_t FirstOutside(const Limits& limits, const float* x, size_t n);

// exp, in fp32 throughout.
void ExpRow(const float* x, size_t n, float* y);

// log, sin, arctan.
void ElementaryRow(ActFunction f, const float* x, size_t n, float* y);

// tanh, softplus, mish, sigmoid, silu, silu_dx, gelu_apprx_*: functions of an
// exponential.
void LogisticRow(ActFunction f, const float* x, size_t n, float* y);

// erf, erf_dx, gelu, gelu_dx.
void GaussianRow(ActFunction f, const float* x, size_t n, float* y);

}  // namespace trnemu::activation

#endif  // TRNEMU_CORE_NUMERICS_ACTIVATION_ROWS_H_
