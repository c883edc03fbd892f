// BnStats, BnAggr.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteBnStats(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "BnStats is not there yet");
}

absl::Status ExecuteBnAggr(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "BnAggr is not there yet");
}

}  // namespace trnemu
