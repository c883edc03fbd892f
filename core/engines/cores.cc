// SendRecv, CoreBarrier.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteSendRecv(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "SendRecv is not there yet");
}

absl::Status ExecuteCoreBarrier(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "CoreBarrier is not there yet");
}

}  // namespace trnemu
