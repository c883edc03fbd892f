#include "frontend/cli/interrupt.h"

#include <atomic>

namespace trnemu::cli {
namespace {

std::atomic<bool> interrupted{false};

}  // namespace

InterruptScope::InterruptScope() {
  interrupted = false;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, &before_);
}

bool Interrupted() { return interrupted; }

}  // namespace trnemu::cli
