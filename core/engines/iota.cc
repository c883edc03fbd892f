// Iota and AffineSelect: int32 affine values, modulo 2^32 [assumed: numerics.md
// 15.9]. The partition index counts from the view's first partition [assumed].
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/select.h"

namespace trnemu {
namespace {

// row[k] = offset + the pattern's k-th value, outer dimensions first.
void AffineRow(const Access& pattern, int64_t offset, int64_t n,
               uint32_t* row) {
  std::array<int64_t, kMaxDims> at{};
  uint32_t value = static_cast<uint32_t>(offset);
  for (int64_t k = 0; k < n; ++k) {
    row[k] = value;
    for (int d = pattern.rank - 1; d >= 0; --d) {
      const Dim& dim = pattern.dims[static_cast<size_t>(d)];
      const uint32_t step = static_cast<uint32_t>(dim.step);
      value += step;
      if (++at[static_cast<size_t>(d)] < dim.count) break;
      value -= step * static_cast<uint32_t>(dim.count);
      at[static_cast<size_t>(d)] = 0;
    }
  }
}

// The affine values of each partition in turn.
class AffineRows {
 public:
  AffineRows(const Access& pattern, int64_t offset, int64_t multiplier,
             int64_t n, CoreState& state)
      : size_(static_cast<size_t>(n)),
        multiplier_(static_cast<uint32_t>(multiplier)),
        base_(BitsBuffer(state, 0, n)),
        row_(BitsBuffer(state, 1, n)) {
    AffineRow(pattern, offset, n, base_);
  }
  uint32_t* Of(uint32_t partition) { return To(row_, partition); }
  uint32_t* To(uint32_t* row, uint32_t partition) {
    IntegerRowScalar(AluOp::kAdd, true, base_, partition * multiplier_, false,
                     size_, row);
    return row;
  }

 private:
  size_t size_;
  uint32_t multiplier_;
  uint32_t* base_;
  uint32_t* row_;
};

}  // namespace

absl::Status ExecuteIota(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Iota;
  const Tile& dst = args.slots[S::kDst].tile;
  const size_t n = static_cast<size_t>(dst.free_size);
  AffineRows rows(
      args.operands[S::kPattern].access, args.attributes[S::kOffset].integer(),
      args.attributes[S::kChannelMultiplier].integer(), dst.free_size, state);
  RowWriter writer(dst, "dst", state);
  const bool words = dst.dtype == Dtype::kInt32 || dst.dtype == Dtype::kUint32;
  float* const buffer = words ? nullptr : RowBuffer(state, 0, dst.free_size);
  const bool in_place = words && writer.IsArrayOf(dst.dtype);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    if (in_place) {
      rows.To(reinterpret_cast<uint32_t*>(writer.base(p)), p);
      continue;
    }
    const uint32_t* const row = rows.Of(p);
    if (words) {
      writer.WriteBits(p, row);
      continue;
    }
    float* const out = writer.Place(p, buffer);
    WidenRow(Dtype::kInt32, reinterpret_cast<const std::byte*>(row), 4, n,
             state.numerics, out);
    writer.Write(p, out);
  }
  return absl::OkStatus();
}

absl::Status ExecuteAffineSelect(const ExecuteArgs& args, CoreState& state) {
  using S = slot::AffineSelect;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& source = args.slots[S::kOnTrueTile].tile;
  const AluOp compare = args.attributes[S::kCmpOp].as<AluOp>();
  const float on_false =
      static_cast<float>(args.attributes[S::kOnFalseValue].real());
  const size_t n = static_cast<size_t>(dst.free_size);
  AffineRows rows(
      args.operands[S::kPattern].access, args.attributes[S::kOffset].integer(),
      args.attributes[S::kChannelMultiplier].integer(), dst.free_size, state);
  const RowReader reader(source, state.numerics);
  RowWriter writer(dst, "dst", state);
  const bool bits = dst.dtype == source.dtype;
  if (bits && on_false != on_false && IsInteger(dst.dtype)) {
    WarnNanToInteger(state, "on_false_value", dst, 0, 0);
  }
  // on_false is an fp32 value, cast to dst (nki/api/nki/isa/__init__.py:1811).
  const uint32_t on_false_bits =
      BitsOfNumber(on_false, dst.dtype, state.numerics);
  writer.Reads(source);
  const bool arrays = bits && SizeOf(dst.dtype) == 4 &&
                      reader.IsArrayOf(dst.dtype) &&
                      writer.IsArrayOf(dst.dtype);
  uint32_t* const words = BitsBuffer(state, 2, dst.free_size);
  float* const row = RowBuffer(state, 0, dst.free_size);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    uint32_t* const mask = rows.Of(p);
    IntegerRowScalar(compare, true, mask, 0, false, n, mask);
    if (arrays) {
      SelectWords(mask, reinterpret_cast<const uint32_t*>(reader.base(p)),
                  on_false_bits, n,
                  reinterpret_cast<uint32_t*>(writer.base(p)));
    } else if (bits) {
      reader.ReadBits(p, words);
      SelectWords(mask, words, on_false_bits, n, words);
      writer.WriteBits(p, words);
    } else {
      reader.ReadInto(p, row);
      uint32_t* const bits_of_row = reinterpret_cast<uint32_t*>(row);
      SelectWords(mask, bits_of_row, std::bit_cast<uint32_t>(on_false), n,
                  bits_of_row);
      writer.Write(p, row);
    }
  }
  return absl::OkStatus();
}

}  // namespace trnemu
