// The transpose mode of the tensor engine, from trn2 on.
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/matmul.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/matmul.h"
#include "core/numerics/transpose.h"

namespace trnemu {
namespace {

void WarnOfMoving(std::string message, CoreState& state) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "nc_matmul.transpose_moving";
  d.operand = "moving";
  d.message = std::move(message);
  d.remedy = "pass an identity, or leave is_transpose out";
  d.reference = "nki/api/nki/isa/__init__.py:561, which does not say";
  Warn(state, std::move(d));
}

// rows[n] = the row of the loaded tile that column n of `moving` selects; false
// if a column does not hold a single 1. Anything but an identity is undefined
// on the device, and reported.
bool SelectedRows(const Matrix& moving, const Tile& tile, uint32_t* rows,
                  CoreState& state) {
  bool identity = tile.free_size == tile.partitions;
  for (int64_t n = 0; n < tile.free_size; ++n) {
    int64_t selected = -1;
    int64_t others = 0;
    for (int64_t k = 0; k < tile.partitions; ++k) {
      const float value = moving.values[static_cast<size_t>(k) * moving.stride +
                                        static_cast<size_t>(n)];
      if (value == 1 && selected < 0) {
        selected = k;
      } else if (value != 0) {
        ++others;
      }
    }
    if (selected < 0 || others > 0) {
      WarnOfMoving(absl::StrCat("is_transpose needs an identity as moving, and "
                                "its column ",
                                n,
                                " does not hold a single 1; "
                                "the product was computed"),
                   state);
      return false;
    }
    rows[n] = static_cast<uint32_t>(selected);
    identity = identity && selected == n;
  }
  if (!identity) {
    WarnOfMoving(
        "is_transpose has a moving tile that selects columns but is "
        "no identity; the selection was moved",
        state);
  }
  return true;
}

// Bits move as they are, 8-bit ones zero-extended
// (nki/guides/architecture/trainium2_arch.rst:204). A wider or narrower
// floating-point destination is a cast [assumed].
void StoreTransposedRow(RowWriter& writer, const Tile& dst, int64_t partition,
                        Dtype from, const std::byte* bytes, CoreState& state) {
  const size_t n = static_cast<size_t>(dst.free_size);
  const ptrdiff_t step = static_cast<ptrdiff_t>(SizeOf(from));
  if (dst.dtype == from || SizeOf(from) == SizeOf(dst.dtype) ||
      (SizeOf(from) == 1 && SizeOf(dst.dtype) == 2)) {
    uint32_t* const words = BitsBuffer(state, 1, dst.free_size);
    LoadBits(from, bytes, step, n, words);
    writer.WriteBits(partition, words);
    return;
  }
  float* const values = RowBuffer(state, 1, dst.free_size);
  WidenRow(from, bytes, step, n, state.numerics, values);
  writer.Write(partition, values);
}

// What a matmul would give, for a moving tile that is no selection [assumed].
void MultiplyBits(const Tile& dst, const Matrix& moving, LoadedTile& loaded,
                  CoreState& state) {
  const size_t rows = static_cast<size_t>(loaded.rows);
  const size_t columns = static_cast<size_t>(loaded.columns);
  const Dtype from = loaded.dtype;
  const ptrdiff_t step = static_cast<ptrdiff_t>(SizeOf(from));
  float* const values = MatrixBuffer(state, 2, loaded.rows * loaded.columns);
  WidenRow(from, loaded.bytes.data(), step, rows * columns, state.numerics,
           values);
  loaded.values.Load(values, columns, rows, columns);
  const size_t n = static_cast<size_t>(dst.free_size);
  float* const sums = MatrixBuffer(state, 1, dst.partitions * dst.free_size);
  MultiplyMoving(loaded.values, moving.values, moving.stride, n,
                 MatmulRule::kChain, sums, n, PsumWrite::kOverwrite);
  RowWriter writer(dst, "dst", state);
  for (uint32_t m = 0; m < dst.partitions; ++m) writer.Write(m, sums + m * n);
}

// Whether `tile` is an identity of a plain type that lies in order.
bool IsPlainIdentity(const Tile& tile) {
  if (tile.free_size != tile.partitions ||
      !RowLayout(tile).contiguous(SizeOf(tile.dtype))) {
    return false;
  }
  const ConstByteMatrix matrix = {tile.base, tile.partition_stride};
  switch (tile.dtype) {
    case Dtype::kFloat32:
      return IsIdentity<uint32_t>(matrix, tile.partitions, 0x3F800000);
    case Dtype::kBFloat16:
      return IsIdentity<uint16_t>(matrix, tile.partitions, 0x3F80);
    case Dtype::kFloat16:
      return IsIdentity<uint16_t>(matrix, tile.partitions, 0x3C00);
    default:
      return false;
  }
}

// to[m][k] = column first + m of the loaded tile's row rows[k], for `count`
// columns and n rows; no rows: all, in order.
void SelectColumns(const LoadedTile& loaded, const uint32_t* rows, int64_t n,
                   int64_t first, int64_t count, ByteMatrix to) {
  const int64_t size = static_cast<int64_t>(SizeOf(loaded.dtype));
  const ptrdiff_t step = loaded.columns * size;
  for (int64_t k = 0; k < n;) {
    // Neighbours move together.
    int64_t end = rows == nullptr ? n : k + 1;
    while (end < n && rows[end] == rows[end - 1] + 1) ++end;
    const int64_t row = rows == nullptr ? 0 : rows[k];
    TransposeBytes(static_cast<unsigned>(size),
                   {loaded.bytes.data() + row * step + first * size, step},
                   static_cast<size_t>(end - k), static_cast<size_t>(count),
                   {to.base + k * size, to.step});
    k = end;
  }
}

}  // namespace

void TransposeInto(const Tile& dst, const Tile& tile, LoadedTile& loaded,
                   CoreState& state) {
  const int64_t n = dst.free_size;
  const uint32_t* rows = nullptr;
  if (!IsPlainIdentity(tile)) {
    const Matrix moving = FloatMatrix(tile, 0, state);
    uint32_t* const selected = BitsBuffer(state, 0, n);
    if (!SelectedRows(moving, tile, selected, state)) {
      MultiplyBits(dst, moving, loaded, state);
      return;
    }
    rows = selected;
  }
  const Dtype from = loaded.dtype;
  if (SizeOf(dst.dtype) == SizeOf(from) &&
      RowLayout(dst).contiguous(SizeOf(from))) {
    SelectColumns(loaded, rows, n, 0, dst.partitions,
                  {dst.base, dst.partition_stride});
    return;
  }
  float* const buffer = RowBuffer(state, 0, n);
  std::byte* const bytes = reinterpret_cast<std::byte*>(buffer);
  RowWriter writer(dst, "dst", state);
  for (uint32_t m = 0; m < dst.partitions; ++m) {
    SelectColumns(loaded, rows, n, m, 1, {bytes, 0});
    StoreTransposedRow(writer, dst, m, from, bytes, state);
  }
}

}  // namespace trnemu
