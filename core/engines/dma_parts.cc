// What a DMA transfer looks like from outside: parts, shapes, overlaps.
#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "core/duplicates.h"
#include "core/dynamic.h"
#include "core/engines/dma.h"
#include "core/extent.h"
#include "core/layout.h"

namespace trnemu {
namespace {

// The partitions of queue `queue`: [result, result of queue + 1).
int64_t FirstPartition(int64_t queue, int64_t queues) {
  return (queue * kPartitions + queues - 1) / queues;
}

// Splits `total` elements by the partitions of `chip`, which holds as many,
// or evenly if it is null.
void Split(int64_t total, const Tile* chip, int queues,
           std::vector<DmaPart>& parts) {
  parts.resize(static_cast<size_t>(queues));
  // Divisions are slow, and many transfers fill what they are split over.
  const bool whole = chip != nullptr && chip->partitions == kPartitions &&
                     kPartitions % queues == 0;
  if (whole || (chip == nullptr && total % queues == 0)) {
    const int64_t count = total / queues;
    for (int q = 0; q < queues; ++q) {
      parts[static_cast<size_t>(q)] = {q * count, count};
    }
    return;
  }
  int64_t done = 0;
  for (int q = 0; q < queues; ++q) {
    int64_t end = 0;
    if (chip == nullptr) {
      end = total / queues * (q + 1) + total % queues * (q + 1) / queues;
    } else {
      const int64_t start = chip->first_partition;
      const int64_t partition = FirstPartition(q + 1, queues) - start;
      end = std::clamp<int64_t>(partition, 0, chip->partitions) *
            (total / chip->partitions);
    }
    parts[static_cast<size_t>(q)] = {done, end - done};
    done = end;
  }
}

// Elements that lie one after the other.
int64_t DenseRun(const Layout& layout, size_t bytes) {
  return layout.step() == static_cast<ptrdiff_t>(bytes) ? layout.run() : 1;
}

// Multiples of n inside (first, first + count).
int64_t Breaks(DmaPart part, int64_t n) {
  return (part.first + part.count - 1) / n - part.first / n;
}

using Bytes = std::pair<const std::byte*, const std::byte*>;

Bytes BoundsOf(const Tile& t) {
  const auto [low, high] = RowExtent(t);
  return {t.base + low,
          t.base + high + (t.partitions - 1) * t.partition_stride};
}

void AppendIntervals(const Tile& t, std::vector<Bytes>& intervals) {
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
}

bool Meet(Bytes a, Bytes b) { return a.second > b.first && b.second > a.first; }

Bytes Join(Bytes a, Bytes b) {
  return {std::min(a.first, b.first), std::max(a.second, b.second)};
}

// Calls visit(tile) for each row, or for the tile itself.
template <typename Visit>
void ForEachRowTile(const DmaOperand& operand, Visit visit) {
  if (!operand.has_rows) {
    visit(operand.tile);
    return;
  }
  for (const int64_t offset : operand.rows) {
    if (offset != kNoRow) visit(Moved(operand.tile, offset));
  }
}

Bytes BoundsOf(const DmaOperand& operand) {
  Bytes bounds = {nullptr, nullptr};
  ForEachRowTile(operand, [&](const Tile& t) {
    bounds = bounds.first == nullptr ? BoundsOf(t) : Join(bounds, BoundsOf(t));
  });
  return bounds;
}

// The intervals of bytes that an operand covers, sorted.
std::vector<Bytes> IntervalsOf(const DmaOperand& operand) {
  std::vector<Bytes> intervals;
  ForEachRowTile(operand,
                 [&](const Tile& t) { AppendIntervals(t, intervals); });
  std::sort(intervals.begin(), intervals.end());
  return intervals;
}

bool SamePlace(const Tile& a, const Tile& b) {
  return a.base == b.base && a.dtype == b.dtype &&
         a.partitions == b.partitions && a.rank == b.rank &&
         std::equal(a.dims.begin(), a.dims.begin() + a.rank, b.dims.begin());
}

bool ShareBytes(const DmaOperand& dst, const DmaOperand& src) {
  if (!Meet(BoundsOf(dst), BoundsOf(src))) return false;
  if (SamePlace(dst.tile, src.tile) && dst.has_rows == src.has_rows &&
      dst.rows == src.rows) {
    return false;
  }
  const std::vector<Bytes> written = IntervalsOf(dst);
  const std::vector<Bytes> read = IntervalsOf(src);
  for (size_t w = 0, r = 0; w < written.size() && r < read.size();) {
    if (Meet(written[w], read[r])) return true;
    ++(written[w].second <= read[r].first ? w : r);
  }
  return false;
}

// The positions of two rows that lie apart, but share an element. `rows` are
// offsets with positions, sorted.
std::pair<int64_t, int64_t> OverlappingRows(
    const Tile& row, std::span<const std::pair<int64_t, int64_t>> rows) {
  const auto [low, high] = RowExtent(row);
  Tile both = row;
  std::copy_backward(both.dims.begin(), both.dims.end() - 1, both.dims.end());
  ++both.rank;
  both.contiguous = false;
  std::set<int64_t> apart;  // that share nothing
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = i + 1;
         j < rows.size() && rows[j].first - rows[i].first < high - low; ++j) {
      both.dims[0] = {rows[j].first - rows[i].first, 2};
      if (!apart.insert(both.dims[0].step).second) continue;
      if (DuplicateElements(both).first >= 0) {
        return std::minmax(rows[i].second, rows[j].second);
      }
    }
  }
  return {-1, -1};
}

}  // namespace

std::vector<DmaPart> SplitDma(const Tile& dst, const Tile& src, int queues) {
  std::vector<DmaPart> parts;
  const Tile& chip = dst.space != Space::kHbm ? dst : src;
  Split(dst.partitions * dst.free_size,
        chip.space != Space::kHbm ? &chip : nullptr, queues, parts);
  return parts;
}

void SplitDma(const DmaTransfer& t, int queues, std::vector<DmaPart>& parts) {
  const Tile* chip = nullptr;
  if (t.dst.tile.space != Space::kHbm) {
    chip = &t.dst.tile;
  } else if (t.opcode != Opcode::kDmaTranspose) {
    for (const DmaOperand& src : t.sources()) {
      if (chip == nullptr && src.tile.space != Space::kHbm) chip = &src.tile;
    }
  }
  Split(t.size(), chip, queues, parts);
}

DmaRuns RunsOfDma(const Tile& dst, const Tile& src) {
  DmaRuns runs;
  runs.to = DenseRun(FlatLayout(dst), SizeOf(dst.dtype));
  runs.from = DenseRun(FlatLayout(src), SizeOf(src.dtype));
  runs.both = std::lcm(runs.to, runs.from);
  runs.row_bytes =
      static_cast<int64_t>(std::max(SizeOf(dst.dtype), SizeOf(src.dtype)));
  runs.bytes = runs.row_bytes;
  return runs;
}

DmaRuns RunsOfDma(const DmaTransfer& t) {
  // A transpose reads and writes as a copy would, at a rate of its own.
  const Tile& src =
      t.opcode == Opcode::kDmaTranspose ? t.dst.tile : t.srcs[0].tile;
  DmaRuns runs = RunsOfDma(t.dst.tile, src);
  for (int s = 1; s < t.num_srcs; ++s) {
    runs.bytes +=
        static_cast<int64_t>(SizeOf(t.srcs[static_cast<size_t>(s)].tile.dtype));
  }
  return runs;
}

HbmBytes HbmBytesOf(const DmaTransfer& transfer, DmaPart part) {
  const auto bytes = [part](const Tile& t) {
    return t.space == Space::kHbm
               ? part.count * static_cast<int64_t>(SizeOf(t.dtype))
               : 0;
  };
  HbmBytes hbm;
  for (const DmaOperand& src : transfer.sources()) hbm.read += bytes(src.tile);
  hbm.written = bytes(transfer.dst.tile);
  return hbm;
}

DmaShape ShapeOfDmaPart(const DmaRuns& runs, DmaPart part) {
  DmaShape shape;
  if (part.count == 0) return shape;
  shape.bytes = part.count * runs.bytes;
  // Where one side's runs are runs of both, its breaks cancel out.
  if (runs.to == runs.both) {
    shape.rows = 1 + Breaks(part, runs.from);
  } else if (runs.from == runs.both) {
    shape.rows = 1 + Breaks(part, runs.to);
  } else {
    shape.rows = 1 + Breaks(part, runs.to) + Breaks(part, runs.from) -
                 Breaks(part, runs.both);
  }
  shape.row_bytes = std::min({runs.to, runs.from, part.count}) * runs.row_bytes;
  return shape;
}

DmaShape ShapeOfDmaPart(const Tile& dst, const Tile& src, DmaPart part) {
  return ShapeOfDmaPart(RunsOfDma(dst, src), part);
}

Tile Permuted(const Tile& src, std::span<const int> axes) {
  std::array<Dim, kMaxDims + 1> dims{};
  int rank = 0;
  if (src.space != Space::kHbm) {
    dims[static_cast<size_t>(rank++)] = {src.partition_stride, src.partitions};
  }
  for (int d = 0; d < src.rank; ++d) {
    dims[static_cast<size_t>(rank++)] = src.dims[static_cast<size_t>(d)];
  }
  Tile result = src;
  result.partitions = 1;
  result.rank = static_cast<uint8_t>(axes.size());
  result.free_size = 1;
  result.contiguous = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    result.dims[i] = dims[static_cast<size_t>(axes[i])];
    result.free_size *= result.dims[i].count;
  }
  if (axes.empty()) {
    result.rank = 1;
    result.dims[0] = {0, 1};
  }
  return result;
}

bool SourceAndDestinationOverlap(const Tile& dst, const Tile& src) {
  DmaOperand to, from;
  to.tile = dst;
  from.tile = src;
  return ShareBytes(to, from);
}

bool SourceAndDestinationOverlap(const DmaTransfer& t) {
  if (t.nothing) return false;
  for (const DmaOperand& src : t.sources()) {
    if (ShareBytes(t.dst, src)) return true;
  }
  return false;
}

std::pair<int64_t, int64_t> DuplicateRows(const DmaOperand& dst) {
  std::vector<std::pair<int64_t, int64_t>> rows;  // offset, position
  for (size_t w = 0; w < dst.rows.size(); ++w) {
    if (dst.rows[w] != kNoRow) {
      rows.emplace_back(dst.rows[w], static_cast<int64_t>(w));
    }
  }
  std::sort(rows.begin(), rows.end());
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].first == rows[i - 1].first) {
      return {rows[i - 1].second, rows[i].second};
    }
  }
  return OverlappingRows(dst.tile, rows);
}

}  // namespace trnemu
