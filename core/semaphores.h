// The counters through which engines meet. All start at 0 in every run.
#ifndef TRNEMU_CORE_SEMAPHORES_H_
#define TRNEMU_CORE_SEMAPHORES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "isa/program.h"

namespace trnemu {

class Semaphores {
 public:
  explicit Semaphores(size_t count) : values_(count, 0) {}

  int64_t value(uint32_t semaphore) const { return values_[semaphore]; }
  void Take(uint32_t semaphore, int64_t value) { values_[semaphore] -= value; }
  // The value after the operation.
  int64_t Apply(const Signal& signal) {
    int64_t& v = values_[signal.semaphore];
    switch (signal.op) {
      case SignalOp::kAdd:
        v += signal.value;
        break;
      case SignalOp::kSub:
        v -= signal.value;
        break;
      case SignalOp::kInc:
        ++v;
        break;
      case SignalOp::kDec:
        --v;
        break;
      case SignalOp::kSet:
        v = signal.value;
        break;
    }
    return v;
  }

 private:
  std::vector<int64_t> values_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_SEMAPHORES_H_
