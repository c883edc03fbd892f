#include "isa/passes/footprint.h"

#include <numeric>

namespace trnemu {
namespace {

// Puts the dimensions of `access` in bytes, positive and decreasing; moves
// `begin` to the smallest address.
void SetDims(const Access& access, Footprint& f) {
  const int64_t bytes = static_cast<int64_t>(SizeOf(access.dtype));
  for (Dim dim : access.active_dims()) {
    if (dim.count <= 1 || dim.step == 0) continue;
    dim.step *= bytes;
    if (dim.step < 0) {
      f.begin += dim.step * (dim.count - 1);
      dim.step = -dim.step;
    }
    uint32_t at = f.rank++;
    for (; at > 0 && f.dims[at - 1].step < dim.step; --at) {
      f.dims[at] = f.dims[at - 1];
    }
    f.dims[at] = dim;
  }
}

// Merges what leaves no gap into the run, and outer dimensions that continue
// the next inner one into it.
void Merge(Footprint& f) {
  while (f.rank > 0 && f.dims[f.rank - 1].step <= f.run) {
    const Dim& inner = f.dims[--f.rank];
    f.run += inner.step * (inner.count - 1);
  }
  uint32_t kept = 0;
  for (uint32_t d = 0; d < f.rank; ++d) {
    const Dim dim = f.dims[d];
    if (kept > 0 && f.dims[kept - 1].step == dim.step * dim.count) {
      f.dims[kept - 1] = {dim.step, dim.count * f.dims[kept - 1].count};
    } else {
      f.dims[kept++] = dim;
    }
  }
  for (uint32_t d = kept; d < kMaxDims; ++d) f.dims[d] = {};
  f.rank = kept;
}

// Of the dimensions with steps below `threshold` and the run, the bytes from
// first to last; the other steps go into `period`, their divisor.
int64_t InnerExtent(const Footprint& f, int64_t threshold, int64_t& period) {
  int64_t extent = f.run;
  for (uint32_t d = 0; d < f.rank; ++d) {
    const Dim& dim = f.dims[d];
    if (dim.step < threshold) {
      extent += dim.step * (dim.count - 1);
    } else {
      period = std::gcd(period, dim.step);
    }
  }
  return extent;
}

// Both patterns repeat with a common period, and their blocks lie at different
// places of it.
bool Interleave(const Footprint& a, const Footprint& b, int64_t threshold) {
  int64_t period = 0;
  const int64_t length_a = InnerExtent(a, threshold, period);
  const int64_t length_b = InnerExtent(b, threshold, period);
  if (length_a + length_b > period) return false;
  const int64_t apart = ((b.begin - a.begin) % period + period) % period;
  return apart >= length_a && apart + length_b <= period;
}

}  // namespace

namespace {

// All of a tensor, for an access that a run moves.
Footprint WholeOf(const Tensor& tensor) {
  Footprint f;
  if (tensor.on_chip()) {
    f.begin = static_cast<int64_t>(tensor.byte_address);
    f.run = tensor.bytes_per_partition();
    f.first_partition = tensor.start_partition;
    f.end_partition =
        f.first_partition + static_cast<uint32_t>(tensor.shape[0]);
  } else {
    f.run = tensor.nbytes();
  }
  f.end = f.begin + f.run;
  return f;
}

}  // namespace

Footprint FootprintOf(const Access& access, const Tensor& tensor) {
  if (access.is_dynamic()) return WholeOf(tensor);
  const int64_t bytes = static_cast<int64_t>(SizeOf(access.dtype));
  Footprint f;
  f.begin = access.offset * bytes;
  f.run = bytes;
  if (access.on_chip()) {
    f.begin += static_cast<int64_t>(tensor.byte_address);
    f.first_partition = tensor.start_partition + access.start_partition;
    f.end_partition = f.first_partition + access.partitions;
  }
  SetDims(access, f);
  Merge(f);
  f.end = f.begin + f.run;
  for (uint32_t d = 0; d < f.rank; ++d) {
    f.end += f.dims[d].step * (f.dims[d].count - 1);
  }
  return f;
}

bool MayOverlap(const Footprint& a, const Footprint& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (a.first_partition >= b.end_partition) return false;
  if (b.first_partition >= a.end_partition) return false;
  for (uint32_t d = 0; d < a.rank; ++d) {
    if (Interleave(a, b, a.dims[d].step)) return false;
  }
  for (uint32_t d = 0; d < b.rank; ++d) {
    if (Interleave(a, b, b.dims[d].step)) return false;
  }
  return true;
}

bool Covers(const Footprint& whole, const Footprint& part) {
  if (part.first_partition < whole.first_partition) return false;
  if (part.end_partition > whole.end_partition) return false;
  if (whole.dense()) return true;
  return whole.begin == part.begin && whole.run == part.run &&
         whole.rank == part.rank && whole.dims == part.dims;
}

Box BoxOf(const Footprint& f, int64_t pitch) {
  Box box;
  box.begin = f.begin;
  box.end = f.end;
  box.full = f.dense();
  if (pitch == 0) return box;
  box.first_row = f.begin / pitch;
  box.end_row = (f.end - 1) / pitch + 1;
  box.begin = f.begin % pitch;
  box.end = box.begin + f.end - f.begin;
  if (box.end <= pitch) return box;
  if (f.rank > 0 && f.dims[0].step % pitch == 0) {
    int64_t inner = f.run;
    for (uint32_t d = 1; d < f.rank; ++d) {
      inner += f.dims[d].step * (f.dims[d].count - 1);
    }
    if (box.begin + inner <= pitch) {
      box.end = box.begin + inner;
      box.full = f.rank == 1 && f.dims[0].step == pitch;
      return box;
    }
  }
  box.full = f.dense() && box.begin == 0 && f.end % pitch == 0;
  box.begin = 0;
  box.end = pitch;
  return box;
}

void PitchVote::Add(const Footprint& f) {
  if (f.dense()) return;
  const int64_t step = f.dims[0].step;
  if (lead_ == 0) pitch_ = step;
  lead_ += step == pitch_ ? 1 : -1u;
}

}  // namespace trnemu
