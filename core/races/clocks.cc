#include "core/races/clocks.h"

#include <algorithm>

namespace trnemu {

uint32_t ClockStore::Add(Clock clock) {
  if (free_.empty()) {
    const auto id = static_cast<uint32_t>(references_.size());
    references_.push_back(1);
    words_.insert(words_.end(), clock.begin(), clock.end());
    return id;
  }
  const uint32_t id = free_.back();
  free_.pop_back();
  references_[id] = 1;
  std::copy(clock.begin(), clock.end(),
            words_.begin() + static_cast<ptrdiff_t>(size_t{id} * lanes_));
  return id;
}

void Join(std::span<uint32_t> clock, Clock other) {
  for (size_t i = 0; i < clock.size(); ++i) {
    clock[i] = std::max(clock[i], other[i]);
  }
}

}  // namespace trnemu
