#include "frontend/cli/interrupt.h"

#include <atomic>

#include "frontend/cli/processes.h"

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
  if (Processes().processes() > 1) {
    sigaction(SIGTERM, &action, &before_term_);
  } else {
    sigaction(SIGTERM, nullptr, &before_term_);
  }
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &before_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
}

bool Interrupted() { return interrupted; }

}  // namespace trnemu::cli
