// TensorCopy and Memset.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {
namespace {

// Same dtypes are a bit copy, except on the scalar engine of generation 2,
// which always goes through fp32 (nki/api/nki/isa/__init__.py:393;
// spec/decisions.md).
bool CopiesBits(const ExecuteArgs& args, const CoreState& state, Dtype dst,
                Dtype src) {
  if (dst != src) return false;
  return args.engine != Engine::kScalar ||
         state.hardware->features.scalar_bit_copy;
}

void CopyBits(const Tile& src, const Tile& dst, RowWriter& writer,
              CoreState& state) {
  const RowReader reader(src, state.numerics);
  const size_t bytes = SizeOf(src.dtype) * static_cast<size_t>(src.free_size);
  writer.Reads(src);
  const bool arrays =
      reader.contiguous() && RowLayout(dst).contiguous(SizeOf(dst.dtype));
  if (arrays) {
    writer.ForEachPartition([&](uint32_t p) {
      std::memmove(writer.base(p), reader.base(p), bytes);
    });
    return;
  }
  uint32_t* const words = BitsBuffer(state, 0, src.free_size);
  for (uint32_t p = 0; p < src.partitions; ++p) {
    reader.ReadBits(p, words);
    writer.WriteBits(p, words);
  }
}

}  // namespace

absl::Status ExecuteTensorCopy(const ExecuteArgs& args, CoreState& state) {
  using S = slot::TensorCopy;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& src = args.slots[S::kSrc].tile;
  RowWriter writer(dst, "dst", state);
  if (CopiesBits(args, state, dst.dtype, src.dtype)) {
    CopyBits(src, dst, writer, state);
    return absl::OkStatus();
  }
  if (IsPacked(src.dtype)) return PackedHasNoValue(src, "src");
  if (IsPacked(dst.dtype)) return PackedHasNoValue(dst, "dst");
  const RowReader reader(src, state, "src", IsInteger(dst.dtype));
  float* const buffer = RowBuffer(state, 0, src.free_size);
  writer.Reads(src);
  writer.ForEachPartition([&](uint32_t p) {
    // Without a copy, where the cast cannot overwrite what it reads.
    float* const row = writer.Place(p, buffer);
    writer.Write(p, writer.overlaps() ? reader.ReadInto(p, buffer)
                                      : reader.Read(p, row));
  });
  return absl::OkStatus();
}

absl::Status ExecuteMemset(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Memset;
  const Tile& dst = args.slots[S::kDst].tile;
  const double value = args.attributes[S::kValue].real();
  const uint32_t bits = BitsOfNumber(value, dst.dtype, state.numerics);
  if (value != value && IsInteger(dst.dtype)) {
    WarnNanToInteger(state, "dst", dst, 0, 0);
  }
  RowWriter writer(dst, "dst", state);
  uint32_t* const row = BitsBuffer(state, 0, dst.free_size);
  std::fill(row, row + dst.free_size, bits);
  writer.WriteBits(0, row);
  if (!RowLayout(dst).contiguous(SizeOf(dst.dtype))) {
    for (uint32_t p = 1; p < dst.partitions; ++p) writer.WriteBits(p, row);
    return absl::OkStatus();
  }
  const size_t bytes = SizeOf(dst.dtype) * static_cast<size_t>(dst.free_size);
  for (uint32_t p = 1; p < dst.partitions; ++p) {
    std::memcpy(writer.base(p), writer.base(0), bytes);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
