// The counters through which engines meet. All start at 0 in every run.
#ifndef TRNEMU_CORE_SEMAPHORES_H_
#define TRNEMU_CORE_SEMAPHORES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "isa/program.h"

namespace trnemu {

// How often an instruction gives its signals: once, or once for each queue of
// its transfer.
inline int64_t QueuesOf(const Program& program, size_t core,
                        const Instruction& i) {
  if (!Info(i.opcode).dma) return 1;
  const int64_t set =
      program.cores[core].AttributesOf(i)[slot::DmaCopy::kQueueSet].integer();
  return program.queue_sets[static_cast<size_t>(set)].queues;
}

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

// How often each signal and each consuming wait of a program took effect, so
// that a deadlock can say where a semaphore's value came from and went.
class SemaphoreUse {
 public:
  explicit SemaphoreUse(const Program& program) {
    for (const CoreProgram& core : program.cores) {
      signals_.emplace_back(core.signals.size(), 0);
      takes_.emplace_back(core.waits.size(), 0);
    }
  }
  // Of the k-th signal or wait of an instruction. A transfer's signal takes
  // effect once a queue.
  void Signalled(size_t core, const Instruction& i, size_t k,
                 uint32_t times = 1) {
    signals_[core][i.first_signal + k] += times;
  }
  void Taken(size_t core, const Instruction& i, size_t k) {
    ++takes_[core][i.first_wait + k];
  }
  uint32_t signals(size_t core, const Instruction& i, size_t k) const {
    return signals_[core][i.first_signal + k];
  }
  uint32_t takes(size_t core, const Instruction& i, size_t k) const {
    return takes_[core][i.first_wait + k];
  }

 private:
  std::vector<std::vector<uint32_t>> signals_, takes_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_SEMAPHORES_H_
