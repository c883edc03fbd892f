// Instructions on registers are executed by the scheduler, which has them
// (core/runner.cc, core/registers.h); the table has no other use for these.
#include "core/engines/engines.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

absl::Status Misplaced() {
  return MakeFault(Category::kInternal, "internal.register_instruction",
                   "an instruction on registers reached an engine's datapath");
}

}  // namespace

absl::Status ExecuteRegisterMove(const ExecuteArgs&, CoreState&) {
  return Misplaced();
}
absl::Status ExecuteRegisterAlu(const ExecuteArgs&, CoreState&) {
  return Misplaced();
}
absl::Status ExecuteRegisterLoad(const ExecuteArgs&, CoreState&) {
  return Misplaced();
}
absl::Status ExecuteRegisterStore(const ExecuteArgs&, CoreState&) {
  return Misplaced();
}
absl::Status ExecuteRankId(const ExecuteArgs&, CoreState&) {
  return Misplaced();
}
absl::Status ExecuteBranch(const ExecuteArgs&, CoreState&) {
  return Misplaced();
}

}  // namespace trnemu
