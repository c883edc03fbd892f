// StreamShuffle: bits of partitions, within quadrants of 32.
//
// Partitions count from each view's first one. Everything is read before
// anything is written, so that in-place use works (documented). A partition of
// src that no lane selects is not looked at: kernels broadcast one partition
// of a view whose others hold nothing.
#include <cstdint>
#include <cstring>

#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kKeep = 255;

// The partition of src that a partition of dst is copied from; -1: it stays.
int64_t SourceOf(const ExecuteArgs& args, int64_t partition) {
  const int64_t lane = partition % kLanes;
  const uint64_t mask =
      args.attributes[slot::StreamShuffle::kMask0 + lane / 8].bits;
  const int64_t from = static_cast<int64_t>(mask >> (lane % 8 * 8) & 0xff);
  return from == kKeep ? -1 : partition - lane + from;
}

absl::Status CheckSource(const ExecuteArgs& args, CoreState& state) {
  using S = slot::StreamShuffle;
  const Tile& src = args.slots[S::kSrc].tile;
  if (!state.check_memory) return absl::OkStatus();
  for (uint32_t p = 0; p < args.slots[S::kDst].tile.partitions; ++p) {
    const int64_t from = SourceOf(args, p);
    if (from < 0) continue;
    absl::Status status =
        AdmitUnwritten(state, src, "src", from * src.free_size, src.free_size);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteStreamShuffle(const ExecuteArgs& args, CoreState& state) {
  using S = slot::StreamShuffle;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& src = args.slots[S::kSrc].tile;
  absl::Status status = CheckSource(args, state);
  if (!status.ok()) return status;
  const RowReader reader(src, state.numerics);
  RowWriter writer(dst, "dst", state);
  const int64_t n = src.free_size;
  const bool at_once = MayOverlap(dst, src);
  const bool arrays =
      !at_once && reader.IsArrayOf(src.dtype) && writer.IsArrayOf(src.dtype);
  uint32_t* const rows = BitsBuffer(state, 0, at_once ? dst.partitions * n : n);
  const auto row = [&](int64_t p) { return rows + (at_once ? p * n : 0); };
  if (at_once) {
    for (uint32_t p = 0; p < dst.partitions; ++p) {
      const int64_t from = SourceOf(args, p);
      if (from >= 0) reader.ReadBits(from, row(p));
    }
  }
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    const int64_t from = SourceOf(args, p);
    if (from < 0) continue;
    if (arrays) {
      std::memcpy(writer.base(p), reader.base(from),
                  static_cast<size_t>(n) * SizeOf(src.dtype));
    } else {
      if (!at_once) reader.ReadBits(from, row(p));
      writer.WriteBits(p, row(p));
    }
    if (state.check_memory) MarkWritten(dst, p * n, n);
    MarkPsum(dst, PsumWriter::kOther, p * n, n);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
