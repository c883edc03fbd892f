#include "collectives/buffers.h"

#include <algorithm>
#include <cstring>

#include "core/layout.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/shadow.h"

namespace trnemu {

void ReadElements(const Tile& tile, int64_t first, int64_t n, std::byte* out) {
  const Layout layout = FlatLayout(tile);
  const size_t size = SizeOf(tile.dtype);
  ForEachRun(layout, first, n, [&](ptrdiff_t offset, int64_t at, int64_t count) {
    const std::byte* from = tile.base + offset;
    std::byte* to = out + static_cast<size_t>(at - first) * size;
    if (layout.step() == static_cast<ptrdiff_t>(size)) {
      std::memcpy(to, from, static_cast<size_t>(count) * size);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to, from, size);
      from += layout.step();
      to += size;
    }
  });
}

void WriteElements(const Tile& tile, int64_t first, int64_t n,
                   const std::byte* in) {
  const Layout layout = FlatLayout(tile);
  const size_t size = SizeOf(tile.dtype);
  ForEachRun(layout, first, n, [&](ptrdiff_t offset, int64_t at, int64_t count) {
    std::byte* to = tile.base + offset;
    const std::byte* from = in + static_cast<size_t>(at - first) * size;
    if (layout.step() == static_cast<ptrdiff_t>(size)) {
      std::memcpy(to, from, static_cast<size_t>(count) * size);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to, from, size);
      to += layout.step();
      from += size;
    }
  });
  MarkWritten(tile, first, n);
}

void MemberBuffers::List::Add(const Tile& tile) {
  if (starts.empty()) starts.push_back(0);
  tiles.push_back(tile);
  starts.push_back(starts.back() +
                   static_cast<int64_t>(tile.partitions) * tile.free_size);
}

MemberBuffers::MemberBuffers(const CollectiveCall& call, Dtype dtype,
                             int64_t scratch_elements)
    : element_bytes_(SizeOf(dtype)),
      scratch_(static_cast<size_t>(scratch_elements) * element_bytes_) {
  for (const CollectiveCall::Tensors& t : call.tensors) {
    if (t.has_src) lists_[0].Add(t.src);
    if (t.has_dst) lists_[1].Add(t.dst);
    if (t.has_src1) lists_[2].Add(t.src1);
  }
}

template <typename Visit>
void MemberBuffers::ForEachSegment(const List& list, int64_t offset, int64_t n,
                                   Visit visit) {
  auto next = std::upper_bound(list.starts.begin(), list.starts.end(), offset);
  auto tile = static_cast<size_t>(next - list.starts.begin()) - 1;
  for (int64_t done = 0; done < n; ++tile) {
    const int64_t first = offset + done - list.starts[tile];
    const int64_t left = list.starts[tile + 1] - list.starts[tile] - first;
    const int64_t count = std::min(left, n - done);
    visit(list.tiles[tile], first, count, done);
    done += count;
  }
}

void MemberBuffers::Read(Buffer buffer, int64_t offset, int64_t n,
                         std::byte* out) const {
  if (buffer == Buffer::kScratch) {
    std::memcpy(out, &scratch_[static_cast<size_t>(offset) * element_bytes_],
                static_cast<size_t>(n) * element_bytes_);
    return;
  }
  ForEachSegment(ListOf(buffer), offset, n,
                 [&](const Tile& tile, int64_t first, int64_t count,
                     int64_t done) {
                   ReadElements(tile, first, count,
                                out + static_cast<size_t>(done) *
                                          element_bytes_);
                 });
}

void MemberBuffers::Write(Buffer buffer, int64_t offset, int64_t n,
                          const std::byte* in) {
  if (buffer == Buffer::kScratch) {
    std::memcpy(&scratch_[static_cast<size_t>(offset) * element_bytes_], in,
                static_cast<size_t>(n) * element_bytes_);
    return;
  }
  ForEachSegment(ListOf(buffer), offset, n,
                 [&](const Tile& tile, int64_t first, int64_t count,
                     int64_t done) {
                   WriteElements(tile, first, count,
                                 in + static_cast<size_t>(done) *
                                          element_bytes_);
                 });
}

void Fp32Reduction::Start(const std::byte* elements, int64_t n) {
  sum_.resize(static_cast<size_t>(n));
  more_.resize(static_cast<size_t>(n));
  WidenRow(dtype_, elements, static_cast<ptrdiff_t>(SizeOf(dtype_)),
           sum_.size(), numerics_, sum_.data());
}

void Fp32Reduction::Add(const std::byte* elements) {
  WidenRow(dtype_, elements, static_cast<ptrdiff_t>(SizeOf(dtype_)),
           more_.size(), numerics_, more_.data());
  AluRows(op_, sum_.data(), more_.data(), sum_.size(), sum_.data());
}

void Fp32Reduction::Finish(std::byte* out) const {
  NarrowRow(sum_.data(), sum_.size(), dtype_, out,
            static_cast<ptrdiff_t>(SizeOf(dtype_)), numerics_);
}

}  // namespace trnemu
