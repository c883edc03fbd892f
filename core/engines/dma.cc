#include "core/engines/dma.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/extent.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

// Elements that are cast or gathered at a time.
constexpr int64_t kChunk = 4096;

int64_t SizeOfTile(const Tile& tile) {
  return tile.partitions * tile.free_size;
}

// The partitions of queue `queue`: [result, result of queue + 1).
int64_t FirstPartition(int64_t queue, int64_t queues) {
  return (queue * kPartitions + queues - 1) / queues;
}

// Moves n elements of runs that do not end before.
class Mover {
 public:
  Mover(const Tile& dst, ptrdiff_t dst_step, const Tile& src,
        ptrdiff_t src_step, CoreState& state)
      : dst_(dst),
        src_(src),
        dst_step_(dst_step),
        src_step_(src_step),
        size_(SizeOf(src.dtype)),
        state_(state) {
    const ptrdiff_t size = static_cast<ptrdiff_t>(size_);
    bits_ = dst.dtype == src.dtype;
    dense_ = bits_ && dst_step == size && src_step == size;
    if (bits_) {
      words_ = BitsBuffer(state, 0, kChunk);
    } else {
      values_ = RowBuffer(state, 0, kChunk);
    }
  }

  // Offsets in bytes from the tiles' bases; `element` is the flat index.
  void Move(ptrdiff_t to, ptrdiff_t from, int64_t element, int64_t n) {
    if (dense_ || (bits_ && n == 1)) {
      std::memmove(dst_.base + to, src_.base + from,
                   static_cast<size_t>(n) * size_);
      return;
    }
    for (int64_t done = 0; done < n; done += kChunk) {
      MoveChunk(dst_.base + to + done * dst_step_,
                src_.base + from + done * src_step_, element + done,
                static_cast<size_t>(std::min(kChunk, n - done)));
    }
  }

 private:
  void MoveChunk(std::byte* to, const std::byte* from, int64_t element,
                 size_t n) {
    if (bits_) {
      LoadBits(src_.dtype, from, src_step_, n, words_);
      StoreBits(dst_.dtype, words_, n, to, dst_step_);
      return;
    }
    WidenRow(src_.dtype, from, src_step_, n, state_.numerics, values_);
    if (IsInteger(dst_.dtype) && !reported_) {
      const size_t nan = FirstNan(values_, n);
      if (nan < n) {
        reported_ = true;
        const int64_t at = element + static_cast<int64_t>(nan);
        WarnNanToInteger(state_, "dst", dst_, at / dst_.free_size,
                         at % dst_.free_size);
      }
    }
    NarrowRow(values_, n, dst_.dtype, to, dst_step_, state_.numerics);
  }

  const Tile& dst_;
  const Tile& src_;
  ptrdiff_t dst_step_;
  ptrdiff_t src_step_;
  size_t size_;
  CoreState& state_;
  uint32_t* words_ = nullptr;
  float* values_ = nullptr;
  bool bits_ = false;
  bool dense_ = false;
  bool reported_ = false;
};

// Elements that lie one after the other.
int64_t DenseRun(const Layout& layout, size_t bytes) {
  return layout.step() == static_cast<ptrdiff_t>(bytes) ? layout.run() : 1;
}

// Multiples of n inside (first, first + count).
int64_t Breaks(DmaPart part, int64_t n) {
  return (part.first + part.count - 1) / n - part.first / n;
}

}  // namespace

std::vector<DmaPart> SplitDma(const Tile& dst, const Tile& src, int queues) {
  std::vector<DmaPart> parts;
  SplitDma(dst, src, queues, parts);
  return parts;
}

void SplitDma(const Tile& dst, const Tile& src, int queues,
              std::vector<DmaPart>& parts) {
  parts.resize(static_cast<size_t>(queues));
  const bool dst_on_chip = dst.space != Space::kHbm;
  const Tile& chip = dst_on_chip ? dst : src;
  const int64_t total = SizeOfTile(dst);
  const int64_t start = chip.first_partition;
  int64_t done = 0;
  for (int q = 0; q < queues; ++q) {
    int64_t end = 0;
    if (chip.space == Space::kHbm) {
      end = total / queues * (q + 1) + total % queues * (q + 1) / queues;
    } else {
      const int64_t partition = FirstPartition(q + 1, queues) - start;
      end = std::clamp<int64_t>(partition, 0, chip.partitions) * chip.free_size;
    }
    parts[static_cast<size_t>(q)] = {done, end - done};
    done = end;
  }
}

absl::Status ExecuteDmaPart(const Tile& dst, const Tile& src, DmaPart part,
                            CoreState& state) {
  if (part.count == 0) return absl::OkStatus();
  if (dst.dtype != src.dtype) {
    if (IsPacked(src.dtype)) return PackedHasNoValue(src, "src");
    if (IsPacked(dst.dtype)) return PackedHasNoValue(dst, "dst");
  }
  if (state.check_memory) {
    absl::Status status =
        Admit(state, CheckWritten(src, "src", part.first, part.count));
    if (!status.ok()) return status;
  }
  const Layout dst_layout = FlatLayout(dst);
  const Layout src_layout = FlatLayout(src);
  RunCursor to(dst_layout, part.first);
  RunCursor from(src_layout, part.first);
  Mover mover(dst, to.step(), src, from.step(), state);
  for (int64_t done = 0; done < part.count;) {
    const int64_t n =
        std::min({to.remaining(), from.remaining(), part.count - done});
    mover.Move(to.offset(), from.offset(), part.first + done, n);
    to.Advance(n);
    from.Advance(n);
    done += n;
  }
  if (state.check_memory) MarkWritten(dst, part.first, part.count);
  MarkPsum(dst, PsumWriter::kOther, part.first, part.count);
  return absl::OkStatus();
}

DmaShape ShapeOfDmaPart(const Tile& dst, const Tile& src, DmaPart part) {
  DmaShape shape;
  if (part.count == 0) return shape;
  const int64_t bytes =
      static_cast<int64_t>(std::max(SizeOf(dst.dtype), SizeOf(src.dtype)));
  const int64_t to = DenseRun(FlatLayout(dst), SizeOf(dst.dtype));
  const int64_t from = DenseRun(FlatLayout(src), SizeOf(src.dtype));
  shape.bytes = part.count * bytes;
  shape.rows = 1 + Breaks(part, to) + Breaks(part, from) -
               Breaks(part, std::lcm(to, from));
  shape.row_bytes = std::min({to, from, part.count}) * bytes;
  return shape;
}

absl::Status ExecuteDmaCopy(const ExecuteArgs& args, CoreState& state) {
  using S = slot::DmaCopy;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& src = args.slots[S::kSrc].tile;
  return ExecuteDmaPart(dst, src, {0, SizeOfTile(dst)}, state);
}

namespace {

using Bytes = std::pair<const std::byte*, const std::byte*>;

Bytes BoundsOf(const Tile& t) {
  const auto [low, high] = RowExtent(t);
  return {t.base + low,
          t.base + high + (t.partitions - 1) * t.partition_stride};
}

// The intervals of bytes that a tile covers, sorted.
std::vector<Bytes> IntervalsOf(const Tile& t) {
  std::vector<Bytes> intervals;
  const ptrdiff_t size = static_cast<ptrdiff_t>(SizeOf(t.dtype));
  const Layout layout = FlatLayout(t);
  const bool whole_runs = layout.step() == size;
  ForEachRun(layout, 0, t.partitions * t.free_size,
             [&](ptrdiff_t offset, int64_t, int64_t n) {
               const std::byte* at = t.base + offset;
               if (whole_runs) {
                 intervals.emplace_back(at, at + n * size);
                 return;
               }
               for (int64_t i = 0; i < n; ++i, at += layout.step()) {
                 intervals.emplace_back(at, at + size);
               }
             });
  std::sort(intervals.begin(), intervals.end());
  return intervals;
}

}  // namespace

bool SourceAndDestinationOverlap(const Tile& dst, const Tile& src) {
  const auto [dst_low, dst_high] = BoundsOf(dst);
  const auto [src_low, src_high] = BoundsOf(src);
  if (dst_high <= src_low || src_high <= dst_low) return false;
  const bool same = dst.base == src.base && dst.dtype == src.dtype &&
                    dst.partitions == src.partitions && dst.rank == src.rank &&
                    std::equal(dst.dims.begin(), dst.dims.begin() + dst.rank,
                               src.dims.begin());
  if (same) return false;
  const std::vector<Bytes> written = IntervalsOf(dst);
  const std::vector<Bytes> read = IntervalsOf(src);
  for (size_t w = 0, r = 0; w < written.size() && r < read.size();) {
    if (written[w].second <= read[r].first) {
      ++w;
    } else if (read[r].second <= written[w].first) {
      ++r;
    } else {
      return true;
    }
  }
  return false;
}

}  // namespace trnemu
