// ReadVectorAccumulator, TensorScalarReduce, TensorScalarCumulative,
// TensorTensorScan, Exponential.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteReadVectorAccumulator(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "ReadVectorAccumulator is not there yet");
}

absl::Status ExecuteTensorScalarReduce(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "TensorScalarReduce is not there yet");
}

absl::Status ExecuteTensorScalarCumulative(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "TensorScalarCumulative is not there yet");
}

absl::Status ExecuteTensorTensorScan(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "TensorTensorScan is not there yet");
}

absl::Status ExecuteExponential(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "Exponential is not there yet");
}

}  // namespace trnemu
