// PartitionReduce, SequenceBounds, LocalGather, NGather, NonzeroWithCount,
// TopK.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecutePartitionReduce(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "PartitionReduce is not there yet");
}

absl::Status ExecuteSequenceBounds(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "SequenceBounds is not there yet");
}

absl::Status ExecuteLocalGather(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "LocalGather is not there yet");
}

absl::Status ExecuteNGather(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "NGather is not there yet");
}

absl::Status ExecuteNonzeroWithCount(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "NonzeroWithCount is not there yet");
}

absl::Status ExecuteTopK(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "TopK is not there yet");
}

}  // namespace trnemu
