// Max8, LoadMatchValues, FindIndex8, MatchReplace8.
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {

absl::Status ExecuteMax8(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "Max8 is not there yet");
}

absl::Status ExecuteLoadMatchValues(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "LoadMatchValues is not there yet");
}

absl::Status ExecuteFindIndex8(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "FindIndex8 is not there yet");
}

absl::Status ExecuteMatchReplace8(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kUnsupported, "unsupported.opcode",
                   "MatchReplace8 is not there yet");
}

}  // namespace trnemu
