// The execute functions, one an opcode. core/engines/table.cc wraps them in
// the checks and marks that follow from the opcode's row, so that here nothing
// looks at shadow memory (matmul and DMA, whose results depend on it, do).
#ifndef TRNEMU_CORE_ENGINES_ENGINES_H_
#define TRNEMU_CORE_ENGINES_ENGINES_H_

#include "absl/status/status.h"
#include "core/execution.h"

namespace trnemu {

absl::Status ExecuteLoadStationary(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteMultiplyMoving(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteVectorTranspose(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteActivate(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteReadAccumulator(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteTensorTensor(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteTensorScalar(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteScalarTensorTensor(const ExecuteArgs& args,
                                       CoreState& state);
absl::Status ExecuteTensorReduce(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteTensorCopy(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteMemset(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteReciprocal(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteIota(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteAffineSelect(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteDmaCopy(const ExecuteArgs& args, CoreState& state);
absl::Status ExecutePsumReset(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteNop(const ExecuteArgs& args, CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_ENGINES_H_
