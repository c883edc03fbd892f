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

namespace trnemu {
namespace {

void WarnOfMoving(std::string message, CoreState& state) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "nc_matmul.transpose_moving";
  d.operand = "moving";
  d.message = std::move(message);
  d.remedy = "pass an identity, or leave is_transpose out";
  d.reference = "spec/isa.json nc_matmul, undefined_behaviour";
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
                        Dtype from, const uint32_t* bits, CoreState& state) {
  if (dst.dtype == from || SizeOf(from) == SizeOf(dst.dtype) ||
      (SizeOf(from) == 1 && SizeOf(dst.dtype) == 2)) {
    writer.WriteBits(partition, bits);
    return;
  }
  const size_t n = static_cast<size_t>(dst.free_size);
  float* const packed = RowBuffer(state, 0, dst.free_size);
  float* const values = RowBuffer(state, 1, dst.free_size);
  std::byte* const bytes = reinterpret_cast<std::byte*>(packed);
  const ptrdiff_t step = static_cast<ptrdiff_t>(SizeOf(from));
  StoreBits(from, bits, n, bytes, step);
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
  float* const packed = RowBuffer(state, 0, loaded.columns);
  std::byte* const bytes = reinterpret_cast<std::byte*>(packed);
  for (size_t k = 0; k < rows; ++k) {
    StoreBits(from, loaded.bits.data() + k * columns, columns, bytes, step);
    WidenRow(from, bytes, step, columns, state.numerics, values + k * columns);
  }
  loaded.values.Load(values, columns, rows, columns);
  const size_t n = static_cast<size_t>(dst.free_size);
  float* const sums = MatrixBuffer(state, 1, dst.partitions * dst.free_size);
  MultiplyMoving(loaded.values, moving.values, moving.stride, n,
                 MatmulRule::kChain, sums, n, PsumWrite::kOverwrite);
  RowWriter writer(dst, "dst", state);
  for (uint32_t m = 0; m < dst.partitions; ++m) writer.Write(m, sums + m * n);
}

}  // namespace

void TransposeInto(const Tile& dst, const Tile& tile, LoadedTile& loaded,
                   CoreState& state) {
  const Matrix moving = FloatMatrix(tile, 0, state);
  uint32_t* const rows = BitsBuffer(state, 0, dst.free_size);
  if (!SelectedRows(moving, tile, rows, state)) {
    MultiplyBits(dst, moving, loaded, state);
    return;
  }
  uint32_t* const row = BitsBuffer(state, 1, dst.free_size);
  RowWriter writer(dst, "dst", state);
  for (uint32_t m = 0; m < dst.partitions; ++m) {
    for (int64_t n = 0; n < dst.free_size; ++n) {
      row[n] = loaded.bits[static_cast<size_t>(rows[n] * loaded.columns + m)];
    }
    StoreTransposedRow(writer, dst, m, loaded.dtype, row, state);
  }
}

}  // namespace trnemu
