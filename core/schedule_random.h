// The choices of a random schedule.
#ifndef TRNEMU_CORE_SCHEDULE_RANDOM_H_
#define TRNEMU_CORE_SCHEDULE_RANDOM_H_

#include <cstdint>

namespace trnemu {

// A small generator of our own, so that a seed means the same everywhere
// (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t n) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % n;
  }

 private:
  uint64_t state_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_SCHEDULE_RANDOM_H_
