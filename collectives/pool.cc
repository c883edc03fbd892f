#include "collectives/pool.h"

#include <algorithm>

namespace trnemu {

Pool::Pool(int threads) {
  for (int i = 1; i < threads; ++i) {
    workers_.emplace_back([this] { Work(); });
  }
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Pool::Take() {
  for (size_t i = next_++; i < count_; i = next_++) (*work_)(i);
}

void Pool::Work() {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    Take();
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
  }
}

void Pool::ForEach(size_t n, const std::function<void(size_t)>& work) {
  if (workers_.empty() || n < 2) {
    for (size_t i = 0; i < n; ++i) work(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = n;
    next_ = 0;
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  begin_.notify_all();
  Take();
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return busy_ == 0; });
}

}  // namespace trnemu
