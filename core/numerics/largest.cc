// A first pass finds a number that at least eight elements reach, a second one
// inserts those that reach it.
#include "core/numerics/largest.h"

#include <algorithm>
#include <limits>

#include "core/numerics/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/largest.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kValues = 8;
constexpr float kLeast = -std::numeric_limits<float>::infinity();
using Lanes = hn::CappedTag<float, kValues>;
using LanesV = hn::Vec<Lanes>;

// What at least kValues elements of the row are not below, NaN aside; -inf
// for want of a better one.
float Reached(const float* row, size_t n) {
  const Lanes d;
  const size_t lanes = hn::Lanes(d);
  if (lanes < kValues / 2 || n < 2 * lanes) return kLeast;
  // The largest of each lane, apart for even and odd vectors.
  LanesV even = hn::Set(d, kLeast);
  LanesV odd = even;
  const auto larger = [d](LanesV best, const float* at) {
    const LanesV x = hn::LoadU(d, at);
    return hn::IfThenElse(hn::Gt(x, best), x, best);
  };
  for (size_t i = 0; i + 2 * lanes <= n; i += 2 * lanes) {
    even = larger(even, row + i);
    odd = larger(odd, row + i + lanes);
  }
  // With eight lanes one vector of maxima is enough, with four it takes both.
  const LanesV maxima =
      lanes == kValues ? hn::Max(even, odd) : hn::Min(even, odd);
  return hn::GetLane(hn::MinOfLanes(d, maxima));
}

class Top {
 public:
  explicit Top(float reached) : reached_(reached) {}
  // The first of [i, n) that may belong here, or n.
  size_t Next(const float* row, size_t i, size_t n) const {
    const Lanes d;
    const size_t lanes = hn::Lanes(d);
    const LanesV reached = hn::Set(d, reached_);
    const LanesV last = hn::Set(d, least());
    for (; i + lanes <= n; i += lanes) {
      const LanesV x = hn::LoadU(d, row + i);
      const auto enough = hn::And(hn::Ge(x, reached), Above(x, last));
      const intptr_t first = hn::FindFirstTrue(d, enough);
      if (first >= 0) return i + static_cast<size_t>(first);
    }
    while (i < n && !(row[i] >= reached_ && (!full() || row[i] > least()))) ++i;
    return i;
  }
  // Before the first that is smaller.
  void Insert(float x) {
    size_t at = filled_;
    while (at > 0 && x > values_[at - 1]) --at;
    if (at == kValues) return;
    filled_ = std::min(filled_ + 1, kValues);
    for (size_t i = filled_ - 1; i > at; --i) values_[i] = values_[i - 1];
    values_[at] = x;
  }
  const std::array<float, kValues>& values() {
    std::fill(values_.begin() + static_cast<ptrdiff_t>(filled_), values_.end(),
              std::numeric_limits<float>::quiet_NaN());
    return values_;
  }

 private:
  bool full() const { return filled_ == kValues; }
  float least() const { return full() ? values_[kValues - 1] : kLeast; }
  hn::Mask<Lanes> Above(LanesV x, LanesV last) const {
    return full() ? hn::Gt(x, last) : hn::Ge(x, last);
  }

  float reached_;
  size_t filled_ = 0;
  std::array<float, kValues> values_{};
};

void LargestKernel(const float* row, size_t n, float* out) {
  Top top(Reached(row, n));
  for (size_t i = top.Next(row, 0, n); i < n; i = top.Next(row, i + 1, n)) {
    top.Insert(row[i]);
  }
  std::copy_n(top.values().begin(), kValues, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu {

HWY_EXPORT(LargestKernel);

std::array<float, 8> LargestEight(const float* row, size_t n) {
  std::array<float, 8> values;
  HWY_DYNAMIC_DISPATCH(LargestKernel)(row, n, values.data());
  return values;
}

}  // namespace trnemu
#endif  // HWY_ONCE
