// Rng, Rand2, RandSetState, RandGetState, SetRngSeed, Dropout.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteRng(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "Rng is not there yet");
}

absl::Status ExecuteRand2(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "Rand2 is not there yet");
}

absl::Status ExecuteRandSetState(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "RandSetState is not there yet");
}

absl::Status ExecuteRandGetState(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "RandGetState is not there yet");
}

absl::Status ExecuteSetRngSeed(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "SetRngSeed is not there yet");
}

absl::Status ExecuteDropout(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "Dropout is not there yet");
}

}  // namespace trnemu
