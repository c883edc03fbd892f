// LoadStationaryMx, MultiplyMovingMx, QuantizeMx.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteLoadStationaryMx(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "LoadStationaryMx is not there yet");
}

absl::Status ExecuteMultiplyMovingMx(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "MultiplyMovingMx is not there yet");
}

absl::Status ExecuteQuantizeMx(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "QuantizeMx is not there yet");
}

}  // namespace trnemu
