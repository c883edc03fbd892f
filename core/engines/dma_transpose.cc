// DmaTranspose.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteDmaTranspose(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "DmaTranspose is not there yet");
}

}  // namespace trnemu
