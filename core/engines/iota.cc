// Iota and AffineSelect: int32 affine values, modulo 2^32 [assumed: numerics.md
// 15.9]. The partition index counts from the view's first partition [assumed].
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

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

// The largest magnitude up to which an iota's dtype holds every whole number.
double ExactUpTo(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32:
      return 0x1p24;
    case Dtype::kTFloat32:
    case Dtype::kFloat16:
      return 2048;
    case Dtype::kBFloat16:
      return 256;
    case Dtype::kFloat8E4M3:
    case Dtype::kFloat8E4M3FN:
      return 16;
    case Dtype::kFloat8E5M2:
      return 8;
    default:
      return kInfinity;  // integers saturate, as documented
  }
}

// The range of the affine values of all partitions.
std::pair<int64_t, int64_t> RangeOf(const Access& pattern, int64_t offset,
                                    int64_t multiplier, int64_t partitions) {
  int64_t low = offset, high = offset;
  auto extend = [&](int64_t step, int64_t count) {
    const int64_t last = step * (count - 1);
    (last < 0 ? low : high) += last;
  };
  for (int d = 0; d < pattern.rank; ++d) {
    extend(pattern.dims[static_cast<size_t>(d)].step,
           pattern.dims[static_cast<size_t>(d)].count);
  }
  extend(multiplier, partitions);
  return {low, high};
}

// integer.overflow of affine values, which is known without computing them.
void LookAtRange(std::string_view what, std::pair<int64_t, int64_t> range,
                 bool is_unsigned, CoreState& state) {
  const int64_t top = is_unsigned ? 0xffffffff : 0x7fffffff;
  if (!state.check_values ||
      (range.first >= -0x80000000ll && range.second <= top)) {
    return;
  }
  const int64_t value = range.second > top ? range.second : range.first;
  Found found{
      0, 0, static_cast<double>(value),
      static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(value)))};
  WarnIntegerOverflow(state, what, found);
}

// iota.inexact: two indices that become one.
class IndexCheck {
 public:
  IndexCheck(const Tile& dst, std::pair<int64_t, int64_t> range,
             CoreState& state)
      : dst_(dst), state_(state) {
    const double exact = ExactUpTo(dst.dtype);
    on_ = state.check_values && (static_cast<double>(range.second) > exact ||
                                 static_cast<double>(range.first) < -exact);
  }
  void Look(uint32_t partition, const uint32_t* row) {
    for (int64_t k = 0; on_ && k < dst_.free_size; ++k) {
      const auto value = static_cast<double>(static_cast<int32_t>(row[k]));
      const auto single = static_cast<float>(value);
      float stored = single;
      if (dst_.dtype != Dtype::kFloat32) {
        std::array<std::byte, 4> code{};
        NarrowRow(&single, 1, dst_.dtype, code.data(), 4, state_.numerics);
        WidenRow(dst_.dtype, code.data(), 4, 1, state_.numerics, &stored);
      }
      if (static_cast<double>(stored) == value) continue;
      on_ = false;
      WarnIota(state_, dst_,
               {partition, k, value, static_cast<double>(stored)});
    }
  }

 private:
  const Tile& dst_;
  CoreState& state_;
  bool on_ = false;
};

}  // namespace

absl::Status ExecuteIota(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Iota;
  const Tile& dst = args.slots[S::kDst].tile;
  const size_t n = static_cast<size_t>(dst.free_size);
  AffineRows rows(
      args.operands[S::kPattern].access, args.attributes[S::kOffset].integer(),
      args.attributes[S::kChannelMultiplier].integer(), dst.free_size, state);
  const auto range = RangeOf(
      args.operands[S::kPattern].access, args.attributes[S::kOffset].integer(),
      args.attributes[S::kChannelMultiplier].integer(), dst.partitions);
  LookAtRange("iota", range, dst.dtype == Dtype::kUint32, state);
  IndexCheck indices(dst, range, state);
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
    indices.Look(p, row);
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
  LookAtRange(
      "affine_select",
      RangeOf(args.operands[S::kPattern].access,
              args.attributes[S::kOffset].integer(),
              args.attributes[S::kChannelMultiplier].integer(), dst.partitions),
      false, state);
  const RowReader reader(source, state, "on_true_tile",
                         dst.dtype != source.dtype && IsInteger(dst.dtype));
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
