// RegisterMove, RegisterAlu, RegisterLoad, RegisterStore, Branch.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteRegisterMove(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "RegisterMove is not there yet");
}

absl::Status ExecuteRegisterAlu(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "RegisterAlu is not there yet");
}

absl::Status ExecuteRegisterLoad(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "RegisterLoad is not there yet");
}

absl::Status ExecuteRegisterStore(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "RegisterStore is not there yet");
}

absl::Status ExecuteBranch(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "Branch is not there yet");
}

}  // namespace trnemu
