// LoadStationary and MultiplyMoving.
//
// What the sums are: core/numerics/matmul.h. How they meet what PSUM holds:
// core/engines/psum.h. Where tiles are loaded: core/engines/array.h. The
// transpose mode: core/engines/matmul_transpose.cc.
//
// double_row (fp8, trn2 and later): a tile is [K, 2, columns], and the logical
// row r * K + k lies in physical row k (trainium2_arch.rst:76). The 32 physical
// rows of a group are one chain in the order of logical rows: all r = 0, then
// all r = 1 (spec/decisions.md).
#include "core/engines/matmul.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/array.h"
#include "core/engines/engines.h"
#include "core/engines/psum.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/matmul.h"

namespace trnemu {
namespace {

using S = slot::MultiplyMoving;
constexpr int64_t kGroup = static_cast<int64_t>(kMatmulGroupRows);

absl::Status Illegal(std::string_view id, const std::string& message) {
  return MakeFault(Category::kIllegal, id, message);
}

bool ExactTranspose(const Attribute& transpose, const CoreState& state) {
  return transpose.boolean() && state.hardware->features.exact_tensor_transpose;
}

std::string PerfModeName(PerfMode mode) {
  return std::string(kPerfModeNames[static_cast<size_t>(mode)]);
}

bool IsDoubleRow(const Attribute& perf_mode) {
  return perf_mode.as<PerfMode>() == PerfMode::kDoubleRow;
}

// trn1 has no transpose mode: its transpose is a matmul with an identity, whose
// products with 0 and 1 are exact whole. Halves would turn an infinity into NaN
// (cases/behaviours.md 5: infinity stays in its place, NaN beside it).
MatmulRule RuleOf(const Attribute& transpose, const CoreState& state) {
  return transpose.boolean() ? MatmulRule::kChain : state.numerics.matmul;
}

// ---- double_row ----

// One of the two halves of a double_row tile, [K, columns].
Tile HalfOf(const Tile& tile, int64_t r) {
  Tile half = tile;
  half.base += r * tile.dims[0].step;
  half.rank = static_cast<uint8_t>(tile.rank - 1);
  std::copy(tile.dims.begin() + 1, tile.dims.end(), half.dims.begin());
  half.free_size = tile.free_size / 2;
  return half;
}

// The 2K logical rows in the order of the chains, in matrix buffer 0.
Matrix DoubleRowMatrix(const Tile& tile, CoreState& state) {
  const int64_t rows = tile.partitions;
  const int64_t n = tile.free_size / 2;
  float* const values = MatrixBuffer(state, 0, 2 * rows * n);
  for (int64_t r = 0; r < 2; ++r) {
    const Tile half = HalfOf(tile, r);
    const RowReader reader(half, state.numerics);
    for (int64_t k = 0; k < rows; ++k) {
      const int64_t first = k / kGroup * kGroup;
      const int64_t in_group = std::min(kGroup, rows - first);
      reader.ReadInto(k, values + (first + r * in_group + k) * n);
    }
  }
  return {values, static_cast<size_t>(n)};
}

absl::Status CheckDoubleRow(const Tile& tile, std::string_view operand,
                            const CoreState& state) {
  if (state.hardware->features.fp8_double_row && IsFp8(tile.dtype) &&
      tile.rank >= 2 && tile.dims[0].count == 2) {
    return absl::OkStatus();
  }
  return Illegal(
      "load_stationary.double_row",
      absl::StrCat("perf_mode double_row takes float8 tiles whose "
                   "first free dimension is 2, from trn2 on; ",
                   std::string(operand), " is ", std::string(Name(tile.dtype)),
                   " on ", state.hardware->name));
}

// ---- LoadStationary ----

absl::Status CheckPass(const Tile& tile, int64_t pass, bool transpose) {
  // A tfloat32 tile takes two passes where the other operand is float32.
  const bool two = tile.dtype == Dtype::kFloat32 ||
                   (tile.dtype == Dtype::kTFloat32 && pass != 0);
  if (transpose || two == (pass != 0)) return absl::OkStatus();
  return Illegal("load_stationary.pass",
                 absl::StrCat("pass is ", pass, " for a stationary tile of ",
                              std::string(Name(tile.dtype)),
                              ": float32 takes passes 1 and 2, other "
                              "dtypes take pass 0"));
}

void LoadBytesOf(const Tile& tile, LoadedTile& loaded, CoreState& state) {
  const size_t n = static_cast<size_t>(tile.free_size);
  const size_t row_bytes = n * SizeOf(tile.dtype);
  const size_t size = tile.partitions * row_bytes;
  if (loaded.bytes.size() < size) loaded.bytes.resize(size);
  const RowReader reader(tile, state.numerics);
  uint32_t* const words = BitsBuffer(state, 0, tile.free_size);
  for (uint32_t p = 0; p < tile.partitions; ++p) {
    std::byte* const to = loaded.bytes.data() + p * row_bytes;
    if (reader.contiguous()) {
      std::memcpy(to, reader.base(p), row_bytes);
    } else {
      reader.ReadBits(p, words);
      StoreBits(tile.dtype, words, n, to,
                static_cast<ptrdiff_t>(SizeOf(tile.dtype)));
    }
  }
}

void LoadDoubleRow(const Tile& tile, Stationary& stationary, CoreState& state) {
  const Matrix matrix = DoubleRowMatrix(tile, state);
  stationary.Load(matrix.values, matrix.stride, size_t{2} * tile.partitions,
                  matrix.stride, 2 * kMatmulGroupRows);
}

void LoadValues(const Tile& tile, int64_t pass, MatmulRule rule,
                Stationary& stationary, CoreState& state) {
  const size_t rows = tile.partitions;
  const size_t columns = static_cast<size_t>(tile.free_size);
  const RowReader reader(tile, state.numerics);
  if (reader.IsArrayOf(Dtype::kBFloat16)) {
    stationary.LoadBf16(
        reinterpret_cast<const uint16_t*>(reader.base(0)),
        static_cast<size_t>(tile.partition_stride) / sizeof(uint16_t), rows,
        columns);
    return;
  }
  const Matrix matrix = FloatMatrix(tile, 0, state);
  if (pass == 0) {
    stationary.Load(matrix.values, matrix.stride, rows, columns);
  } else {
    stationary.LoadHalf(pass == 1 ? Fp32Half::kLo : Fp32Half::kHi, rule,
                        matrix.values, matrix.stride, rows, columns);
  }
}

// ---- MultiplyMoving ----

absl::Status CheckMode(const ExecuteArgs& args, bool transpose,
                       const LoadedTile& loaded, const CoreState& state) {
  const int64_t pass = args.attributes[S::kPass].integer();
  const PerfMode perf_mode = args.attributes[S::kPerfMode].as<PerfMode>();
  if (pass != loaded.pass || transpose != loaded.transpose ||
      perf_mode != loaded.perf_mode || loaded.mx) {
    const std::string_view kind = loaded.mx ? ", of MX elements" : "";
    return Illegal(
        "multiply_moving.mode",
        absl::StrCat("pass ", pass, " with transpose ", transpose, " and ",
                     PerfModeName(perf_mode),
                     " does not follow a load for pass ", loaded.pass,
                     " with transpose ", loaded.transpose, " and ",
                     PerfModeName(loaded.perf_mode), std::string(kind)));
  }
  if (perf_mode != PerfMode::kDoubleRow) return absl::OkStatus();
  return CheckDoubleRow(args.slots[S::kMoving].tile, "moving", state);
}

// Streams the moving tile through the array.
void Multiply(const Tile& moving, int64_t pass, MatmulRule rule,
              const LoadedTile& loaded, const PsumSums& to, CoreState& state) {
  const bool double_row = loaded.perf_mode == PerfMode::kDoubleRow;
  const size_t n = static_cast<size_t>(moving.free_size);
  const RowReader reader(moving, state.numerics);
  if (pass == 0 && reader.IsArrayOf(Dtype::kBFloat16)) {
    MultiplyMovingBf16(
        loaded.values, reinterpret_cast<const uint16_t*>(reader.base(0)),
        static_cast<size_t>(moving.partition_stride) / sizeof(uint16_t), n,
        rule, to.sums, to.stride, to.write);
    return;
  }
  const Matrix matrix = double_row ? DoubleRowMatrix(moving, state)
                                   : FloatMatrix(moving, 0, state);
  if (pass == 0) {
    MultiplyMoving(loaded.values, matrix.values, matrix.stride,
                   double_row ? n / 2 : n, rule, to.sums, to.stride, to.write);
  } else {
    MultiplyMovingFp32Pass(loaded.values, matrix.values, matrix.stride, n, rule,
                           to.sums, to.stride, to.write);
  }
}

// The transpose mode moves bits, whatever accumulate says (spec/isa.json,
// semantics of nc_matmul).
absl::Status Transpose(const ExecuteArgs& args, LoadedTile& loaded,
                       CoreState& state) {
  const Tile& dst = args.slots[S::kDst].tile;
  const bool adds =
      args.attributes[S::kAccumulate].as<Accumulate>() == Accumulate::kTrue;
  absl::Status status =
      BeginSums(adds ? Accumulate::kTrue : Accumulate::kFalse, dst, state)
          .status();
  if (!status.ok()) return status;
  if (adds) {
    Diagnostic d;
    d.category = Category::kUnspecified;
    d.id = "nc_matmul.transpose_accumulate";
    d.operand = "accumulate";
    d.message =
        "no document says what accumulate=True does to the bits of a "
        "transpose; dst was overwritten";
    d.remedy = "leave accumulate out, or is_transpose";
    d.reference = "nki/api/nki/isa/__init__.py:561, which does not say";
    Warn(state, std::move(d));
  }
  TransposeInto(dst, args.slots[S::kMoving].tile, loaded, state);
  MarkMatmul(dst, state);
  return absl::OkStatus();
}

}  // namespace

Matrix FloatMatrix(const Tile& tile, size_t index, CoreState& state) {
  const RowReader reader(tile, state.numerics);
  if (reader.in_place()) {
    return {reader.Read(0, nullptr),
            static_cast<size_t>(tile.partition_stride) / sizeof(float)};
  }
  const int64_t n = tile.free_size;
  float* const values = MatrixBuffer(state, index, tile.partitions * n);
  for (uint32_t p = 0; p < tile.partitions; ++p) {
    reader.ReadInto(p, values + p * n);
  }
  return {values, static_cast<size_t>(n)};
}

absl::Status ExecuteLoadStationary(const ExecuteArgs& args, CoreState& state) {
  using L = slot::LoadStationary;
  const Tile& tile = args.slots[L::kStationary].tile;
  const auto attributes = args.attributes;
  const bool transpose = ExactTranspose(attributes[L::kTranspose], state);
  const int64_t pass = attributes[L::kPass].integer();
  const bool double_row = IsDoubleRow(attributes[L::kPerfMode]);
  absl::Status status = CheckPass(tile, pass, transpose);
  if (status.ok() && double_row) {
    status = CheckDoubleRow(tile, "stationary", state);
  }
  if (!status.ok()) return status;
  const int64_t columns = double_row ? tile.free_size / 2 : tile.free_size;
  absl::StatusOr<LoadedTile*> place = PlaceTile(
      {attributes[L::kStartRow].integer(),
       attributes[L::kStartColumn].integer(), attributes[L::kRows].integer(),
       attributes[L::kColumns].integer()},
      tile.partitions, columns, state);
  if (!place.ok()) return place.status();
  LoadedTile& loaded = **place;
  if (transpose) {
    LoadBytesOf(tile, loaded, state);
  } else if (double_row) {
    LoadDoubleRow(tile, loaded.values, state);
  } else {
    LoadValues(tile, pass, RuleOf(attributes[L::kTranspose], state),
               loaded.values, state);
  }
  loaded.dtype = tile.dtype;
  loaded.rows = tile.partitions;
  loaded.columns = columns;
  loaded.pass = pass;
  loaded.transpose = transpose;
  loaded.mx = false;
  loaded.perf_mode = attributes[L::kPerfMode].as<PerfMode>();
  return absl::OkStatus();
}

absl::Status ExecuteMultiplyMoving(const ExecuteArgs& args, CoreState& state) {
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& moving = args.slots[S::kMoving].tile;
  const auto attributes = args.attributes;
  const bool transpose = ExactTranspose(attributes[S::kTranspose], state);
  absl::StatusOr<LoadedTile*> found = FindTile(
      {attributes[S::kStartRow].integer(),
       attributes[S::kStartColumn].integer(), attributes[S::kRows].integer(),
       attributes[S::kColumns].integer()},
      state);
  if (!found.ok()) return found.status();
  LoadedTile& loaded = **found;
  absl::Status status = CheckMode(args, transpose, loaded, state);
  if (!status.ok()) return status;
  const bool double_row = loaded.perf_mode == PerfMode::kDoubleRow;
  status = CheckProductShape(
      loaded, moving, double_row ? moving.free_size / 2 : moving.free_size,
      dst);
  if (!status.ok()) return status;
  if (transpose) return Transpose(args, loaded, state);
  absl::StatusOr<PsumSums> sums =
      BeginSums(attributes[S::kAccumulate].as<Accumulate>(), dst, state);
  if (!sums.ok()) return sums.status();
  Multiply(moving, attributes[S::kPass].integer(),
           RuleOf(attributes[S::kTranspose], state), loaded, *sums, state);
  EndSums(*sums, dst, state);
  return absl::OkStatus();
}

}  // namespace trnemu
