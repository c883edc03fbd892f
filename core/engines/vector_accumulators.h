// The vector engine's accumulators: one fp32 a lane, shared by all its
// accumulating instructions (range_select, select_reduce, exponential,
// tensor_scalar_reduce, tensor_scalar_cumulative; numerics.md 8).
//
// An instruction prepares the lanes, then folds its elements into
// state.vector_accumulators[first_lane + p] itself, in access order, with
// values before the cast to dst. ReadVectorAccumulator reads them.
//
// Lane 0 belongs to the first partition of the instruction's tile, wherever
// that lies, as with the scalar engine: so that data and reduce_res may lie on
// different partitions [assumed]. Instructions therefore pass first_lane 0.
#ifndef TRNEMU_CORE_ENGINES_VECTOR_ACCUMULATORS_H_
#define TRNEMU_CORE_ENGINES_VECTOR_ACCUMULATORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "core/engines/rows.h"
#include "core/execution.h"
#include "isa/vocabulary.h"

namespace trnemu {

// What the lanes hold before the instruction's first element:
//  * reset, reset_reduce: the identity of reduce_op (ReduceIdentity: 0 for add
//    and subtract, 1 for multiply, -inf for maximum, +inf for minimum);
//  * load_reduce: init, never null then, of each partition;
//  * reduce: what is there; `uninitialized` (vector.accumulator_unset) if that
//    is not known;
//  * idle: no longer known (ForgetVectorAccumulators).
absl::Status PrepareVectorAccumulators(ReduceCmd cmd, AluOp reduce_op,
                                       const ColumnReader* init,
                                       int64_t first_lane, int64_t lanes,
                                       CoreState& state);

// What an instruction with reduce_cmd=idle does: it may modify the
// accumulators (nki/api/nki/isa/__init__.py:2357), all of them as far as the
// documents say.
void ForgetVectorAccumulators(CoreState& state);

// `uninitialized` (vector.accumulator_unset) if a lane was never reset in this
// run, or has been forgotten since. `use` begins the message: "reduce_res
// reads".
absl::Status CheckVectorAccumulators(int64_t first_lane, int64_t lanes,
                                     std::string_view use, CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_VECTOR_ACCUMULATORS_H_
