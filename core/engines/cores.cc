// SendRecv, CoreBarrier. Neither computes: the scheduler moves an exchange's
// parts (core/exchange.h), and a barrier is its waits and signals.
#include "core/engines/engines.h"

namespace trnemu {

absl::Status ExecuteSendRecv(const ExecuteArgs&, CoreState&) {
  return MakeFault(Category::kInternal, "internal.exchange",
                   "a sendrecv takes two cores and was given to one");
}

absl::Status ExecuteCoreBarrier(const ExecuteArgs&, CoreState&) {
  return absl::OkStatus();
}

}  // namespace trnemu
