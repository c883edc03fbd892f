// SendRecv, CoreBarrier, collectives. None computes: the scheduler moves an
// exchange's parts (core/exchange.h), a barrier is its waits and signals, and
// collectives/ moves what ranks exchange.
#include "core/engines/engines.h"

namespace trnemu {

absl::Status ExecuteSendRecv(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kInternal, "internal.exchange",
                   "a sendrecv takes two cores and was given to one");
}

absl::Status ExecuteCollective(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kInternal, "internal.collective",
                   "a collective reached an engine's datapath");
}

absl::Status ExecuteCoreBarrier(const ExecuteArgs&, CoreState&) {
  return absl::OkStatus();
}

}  // namespace trnemu
