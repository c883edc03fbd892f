// TensorCopyPredicated, RangeSelect, SelectReduce.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteTensorCopyPredicated(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "TensorCopyPredicated is not there yet");
}

absl::Status ExecuteRangeSelect(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "RangeSelect is not there yet");
}

absl::Status ExecuteSelectReduce(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "SelectReduce is not there yet");
}

}  // namespace trnemu
