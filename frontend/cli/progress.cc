#include "frontend/cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "frontend/cli/common.h"

namespace trnemu::cli {

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (!isatty(STDERR_FILENO)) return;
  // Signals go to the main thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Loop(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Progress::Say(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void Progress::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::Loop() {
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (!changed_.wait_for(lock, std::chrono::seconds(1),
                            [this] { return stop_; })) {
    ++seconds;
    PrintError(Cat("trnemu: ", what_, ", ", seconds, " s"));
    std::fputs("\033[K\r", stderr);
    std::fflush(stderr);
  }
  if (seconds > 0) std::fputs("\033[K", stderr);
}

}  // namespace trnemu::cli
