// What the scheduler says when a run cannot go on.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/deadlock.h"
#include "core/runner.h"

namespace trnemu {

absl::Status Runner::Deadlock() const {
  StalledRun stalled{program_,    semaphores_, semaphore_use_,
                     sequencers_, exchanges_,  {}};
  for (const auto& queue : pending_parts_) {
    for (const auto& [transfer, part] : queue) {
      const int64_t exchange = transfers_[transfer].exchange;
      if (exchange < 0) continue;
      for (const ExchangeEnd& end : exchanges_.at(exchange).ends) {
        auto& crossed = stalled.crossed;
        if (std::find(crossed.begin(), crossed.end(), &end) == crossed.end()) {
          crossed.push_back(&end);
        }
      }
    }
  }
  return ReportDeadlock(stalled);
}

}  // namespace trnemu
