// StreamShuffle.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteStreamShuffle(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "StreamShuffle is not there yet");
}

}  // namespace trnemu
