// The scalar engine's accumulators: one fp32 a lane, shared by activation,
// activation_reduce and activate2. Lane 0 belongs to the first partition of
// the instruction's tile, wherever that lies [assumed].
#ifndef TRNEMU_CORE_ENGINES_SCALAR_ACCUMULATORS_H_
#define TRNEMU_CORE_ENGINES_SCALAR_ACCUMULATORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "core/execution.h"
#include "isa/vocabulary.h"

namespace trnemu {

// What the lanes hold before the instruction's first element: the identity of
// reduce_op (0 if it is none) after reset and reset_reduce, else what is
// there. `uninitialized` (activation.accumulator_unset) if reduce finds a lane
// that nothing has reset in this run. idle does not touch them
// (nki/api/nki/isa/__init__.py:1355).
absl::Status PrepareScalarAccumulators(ReduceCmd cmd, AluOp reduce_op,
                                       int64_t lanes, CoreState& state);

// The same finding, of what an instruction reads. `use` begins the message.
absl::Status CheckScalarAccumulators(int64_t lanes, std::string_view use,
                                     CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_SCALAR_ACCUMULATORS_H_
