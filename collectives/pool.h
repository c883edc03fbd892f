// A few threads that share the work of one loop at a time.
#ifndef TRNEMU_COLLECTIVES_POOL_H_
#define TRNEMU_COLLECTIVES_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trnemu {

class Pool {
 public:
  explicit Pool(int threads);  // the caller is one of them
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Calls work(0) to work(n - 1), each once, in any order, and waits for all.
  void ForEach(size_t n, const std::function<void(size_t)>& work);

 private:
  void Work();
  void Take();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(size_t)>* work_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  uint64_t round_ = 0;
  int busy_ = 0;
  bool stop_ = false;
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_POOL_H_
