// The activation functions of the scalar engine: y = f(x) over a row of fp32.
//
// Every function is within 1 ulp of the mathematical one over the whole fp32
// range (docs/activation-accuracy.md has what was measured), and its bits
// depend on neither the processor, the thread, the build nor libm: the
// approximations are fixed polynomials with named fused multiply-adds, besides
// the IEEE-exact square root and division. Silicon evaluates piecewise
// polynomials of the 1e-5 class with unpublished coefficients; see
// spec/decisions.md, "Silicon fingerprints".
//
// Conventions where the documents are silent:
//  * A NaN gives the canonical quiet NaN 0x7fc00000, as does an argument
//    outside the domain (log(-1)). Exceptions: copy and abs keep the payload,
//    and relu(NaN) is 0, since max returns the operand that is a number.
//  * Infinite arguments give the limit of the function. A result that
//    underflows keeps the sign of its limit: silu(-inf) is -0.
//  * relu gives +0 for every x that is not positive; sign(-0) is +0.
//  * prelu has its slope only on activate2. Through ActivationRow the slope is
//    0 and the formula, x if x >= 0 else slope * x, is evaluated as written:
//    -1 gives -0 and -inf gives NaN.
//  * sin has no range reduction: beyond +-pi it is the cubic about +-pi, so
//    sin(9) is 27.65 (documented) and sin(inf) is inf.
//  * log, arctan, sqrt, rsqrt and reciprocal are the true function outside the
//    documented range too; the caller reports such results as unspecified.

#ifndef TRNEMU_CORE_NUMERICS_ACTIVATION_H_
#define TRNEMU_CORE_NUMERICS_ACTIVATION_H_

#include <cstddef>

#include "isa/vocabulary.h"

namespace trnemu {

// y[i] = f(x[i]) for i < n. y may be x; otherwise they must not overlap.
// f must be valid (IsValid).
void ActivationRow(ActFunction f, const float* x, size_t n, float* y);

// y[i] = x[i] if x[i] >= 0, else slope * x[i]. y may be x.
void PreluRow(const float* x, size_t n, float slope, float* y);

// The index of the first x outside the documented valid range of f (Info(f)),
// n if there is none. The limits of the range are rounded to the nearest fp32,
// so that the fp32 neighbours of pi and pi/2, slightly larger than these, are
// inside: programs clamp to them. NaN is inside; 0 is inside for sqrt.
size_t FirstOutsideValidRange(ActFunction f, const float* x, size_t n);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_ACTIVATION_H_
