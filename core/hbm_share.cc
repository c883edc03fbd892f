#include "core/hbm_share.h"

#include <algorithm>

namespace trnemu {

HbmShare::HbmShare(const MemoryLimits& memory, size_t cores)
    : bandwidth_(memory.hbm_stack_bandwidth),
      stack_(static_cast<size_t>(memory.hbm_stack_cores)),
      taken_(cores) {}

// A core's transfers share its engines, so that together they take no more
// than the one of them that may take most.
double HbmShare::TakenBy(size_t core, Ticks at) const {
  for (const Taken& t : taken_[core]) {
    if (t.until > at) return t.rate;
  }
  return 0;
}

double HbmShare::Grant(size_t core, Ticks ready, Ticks start) const {
  const size_t first = core / stack_ * stack_;
  const size_t last = std::min(taken_.size(), first + stack_);
  const auto cores = static_cast<double>(last - first);
  const double least = bandwidth_ / (2 * cores);
  double left = bandwidth_, sharers = 1;
  for (size_t c = first; c < last; ++c) {
    if (c == core) continue;
    left -= std::max(TakenBy(c, start), least);
    // Who is at work now will go on, for all that is known.
    sharers += TakenBy(c, ready) > 0;
  }
  return std::max(least, std::min(left, bandwidth_ / sharers));
}

void HbmShare::Take(size_t core, Ticks now, Ticks until, double rate) {
  if (taken_.size() == 1) return;  // nobody to share with
  auto& all = taken_[core];
  std::erase_if(all, [now](const Taken& t) { return t.until <= now; });
  auto at = all.begin();
  while (at != all.end() && at->rate > rate && at->until < until) ++at;
  if (at != all.end() && at->rate >= rate && at->until >= until) return;
  // Those that take no more and end no later say nothing any more.
  auto end = at;
  while (end != all.end() && end->until <= until) ++end;
  all.insert(all.erase(at, end), {until, rate});
}

}  // namespace trnemu
