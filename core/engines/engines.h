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
absl::Status ExecuteLoadStationaryMx(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteMultiplyMovingMx(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteQuantizeMx(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteActivate2(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteReadVectorAccumulator(const ExecuteArgs& args,
                                          CoreState& state);
absl::Status ExecuteTensorScalarReduce(const ExecuteArgs& args,
                                       CoreState& state);
absl::Status ExecuteTensorScalarCumulative(const ExecuteArgs& args,
                                           CoreState& state);
absl::Status ExecuteTensorTensorScan(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteExponential(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteTensorCopyPredicated(const ExecuteArgs& args,
                                         CoreState& state);
absl::Status ExecuteRangeSelect(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteSelectReduce(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteBnStats(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteBnAggr(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteMax8(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteLoadMatchValues(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteFindIndex8(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteMatchReplace8(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteStreamShuffle(const ExecuteArgs& args, CoreState& state);
absl::Status ExecutePartitionReduce(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteSequenceBounds(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteLocalGather(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteNGather(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteNonzeroWithCount(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteTopK(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRng(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRand2(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRandSetState(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRandGetState(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteSetRngSeed(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteDropout(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteDmaTranspose(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteDmaCompute(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteSendRecv(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteCoreBarrier(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRegisterMove(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRegisterAlu(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRegisterLoad(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteCollective(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRankId(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteRegisterStore(const ExecuteArgs& args, CoreState& state);
absl::Status ExecuteBranch(const ExecuteArgs& args, CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_ENGINES_H_
