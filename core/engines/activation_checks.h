// Warnings of inputs for which an activation function is not specified.
#ifndef TRNEMU_CORE_ENGINES_ACTIVATION_CHECKS_H_
#define TRNEMU_CORE_ENGINES_ACTIVATION_CHECKS_H_

#include <cstdint>

#include "core/execution.h"
#include "isa/vocabulary.h"

namespace trnemu {

bool HasLimitedRange(ActFunction f);

// Warns of the first of a row's inputs x that is outside the valid range of f
// (activation.outside_valid_range). Returns whether there was one.
bool ReportOutsideRange(ActFunction f, const Tile& data, int64_t partition,
                        const float* x, CoreState& state);

// The same of the first negative input of a prelu that has no slope
// (activation.prelu_slope).
bool ReportNoPreluSlope(const Tile& data, int64_t partition, const float* x,
                        CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_ACTIVATION_CHECKS_H_
