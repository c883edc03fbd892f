// LoadStationaryMx and MultiplyMovingMx.
//
// A value is element * 2^(code - 127); code 255 is NaN. A group of the column
// sums is 32 partitions, in it one ascending chain over partitions and the four
// values of each; products are exact, the chains and all after them as in
// core/numerics/matmul.h (spec/numerics.md 6, 15.15) [assumed]. An fp4 element
// is its E2M1 number: NKI has no table for it
// (about-neuron/arch/neuron-hardware/neuron-core-v4.rst:28) [assumed].
//
// A value is exact in fp32 unless it is 2^128 or more, which takes a scale that
// no fp16 or bf16 input has; then the sums are taken from fp64 values.
#include "core/engines/mx.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/engines/array.h"
#include "core/engines/engines.h"
#include "core/engines/psum.h"
#include "core/engines/rows.h"
#include "core/numerics/convert.h"
#include "core/numerics/formats.h"
#include "core/numerics/matmul.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

constexpr size_t kGroupRows = kMxPacked * kMatmulGroupRows;
constexpr int64_t kMaxRows = static_cast<int64_t>(Stationary::kMaxRows);
// Columns of the moving tile that are unpacked at a time: they stay in a cache.
constexpr int64_t kChunk = 128;

// ---- elements and scales ----

// The numbers of a packed dtype's codes, and how they lie in an element.
struct Elements {
  std::array<float, 256> value;
  int bits;              // of a code
  int largest_exponent;  // of a number
};

Elements Fp4Elements(const NumericsOptions& options) {
  constexpr float kE2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  Elements e = {{}, 4, 2};
  for (size_t code = 0; code < 16; ++code) {
    const bool flush = options.subnormals == Subnormals::kFlush;
    const float magnitude = flush && code % 8 == 1 ? 0 : kE2m1[code % 8];
    e.value[code] = code < 8 ? magnitude : -magnitude;
  }
  return e;
}

Elements ElementsOf(Dtype packed, const NumericsOptions& options) {
  if (packed == Dtype::kFloat4E2M1FNX4) return Fp4Elements(options);
  const bool e5m2 = packed == Dtype::kFloat8E5M2X4;
  Elements e = {{}, 8, e5m2 ? 15 : 8};
  std::array<std::byte, 256> codes;
  for (size_t code = 0; code < codes.size(); ++code) {
    codes[code] = static_cast<std::byte>(code);
  }
  WidenRow(e5m2 ? Dtype::kFloat8E5M2 : Dtype::kFloat8E4M3FN, codes.data(), 1,
           codes.size(), options, e.value.data());
  return e;
}

// An operand with its scales: codes and elements, a partition a row.
struct MxMatrix {
  Elements elements;
  const uint32_t* packed;  // rows x columns
  const uint32_t* scales;  // rows / 8 x columns
  int64_t rows;
  int64_t columns;
  bool wide;  // a value may be beyond fp32

  float scale(int64_t row, int64_t column) const {
    return std::bit_cast<float>(
        WidenE8M0(scales[row / kMxGroupPartitions * columns + column]));
  }
  uint32_t code(int64_t row, int64_t column, int64_t j) const {
    const uint32_t mask = (1u << elements.bits) - 1;
    return packed[row * columns + column] >> (j * elements.bits) & mask;
  }
  double Value(int64_t row, int64_t column, int64_t j) const {
    return double{elements.value[code(row, column, j)]} *
           double{scale(row, column)};
  }
};

absl::Status CheckScales(const Tile& scales, std::string_view operand,
                         const Tile& data, CoreState& state) {
  if (!state.check_memory) return absl::OkStatus();
  const int64_t groups = data.partitions / kMxGroupPartitions;
  for (int64_t g = 0; g < groups; ++g) {
    absl::Status status =
        AdmitUnwritten(state, scales, operand, MxScaleRow(g) * scales.free_size,
                       data.free_size);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

MxMatrix ReadMx(const Tile& data, const Tile& scales, CoreState& state) {
  const int64_t rows = data.partitions;
  const int64_t columns = data.free_size;
  uint32_t* const packed = BitsBuffer(state, 0, rows * columns);
  const RowReader reader(data, state.numerics);
  for (int64_t p = 0; p < rows; ++p) reader.ReadBits(p, packed + p * columns);
  const int64_t groups = rows / kMxGroupPartitions;
  uint32_t* const codes = BitsBuffer(state, 1, groups * columns);
  uint32_t* const row = BitsBuffer(state, 2, scales.free_size);
  const RowReader scale_reader(scales, state.numerics);
  MxMatrix m = {ElementsOf(data.dtype, state.numerics),
                packed,
                codes,
                rows,
                columns,
                false};
  const uint32_t first_wide =
      static_cast<uint32_t>(255 - m.elements.largest_exponent);
  for (int64_t g = 0; g < groups; ++g) {
    scale_reader.ReadBits(MxScaleRow(g), row);
    for (int64_t i = 0; i < columns; ++i) {
      codes[g * columns + i] = row[i];
      m.wide = m.wide || (row[i] >= first_wide && row[i] < 255);
    }
  }
  return m;
}

// Columns [first, first + n) as 4 x rows rows of fp32 values, n apart.
void Unpack(const MxMatrix& m, int64_t first, int64_t n, float* out) {
  std::array<float, kChunk> scale;
  const uint32_t mask = (1u << m.elements.bits) - 1;
  for (int64_t p = 0; p < m.rows; ++p) {
    if (p % kMxGroupPartitions == 0) {
      for (int64_t i = 0; i < n; ++i) {
        scale[static_cast<size_t>(i)] = m.scale(p, first + i);
      }
    }
    const uint32_t* const packed = m.packed + p * m.columns + first;
    for (int64_t j = 0; j < kMxPacked; ++j, out += n) {
      const int64_t shift = j * m.elements.bits;
      for (int64_t i = 0; i < n; ++i) {
        out[i] = m.elements.value[packed[i] >> shift & mask] *
                 scale[static_cast<size_t>(i)];
      }
    }
  }
}

// ---- sums of fp64 values ----

// sum over k of a[k] * b[k] by the rule. The product of two values has few
// bits and is exact; the addition in fp64 rounds to fp32 as if done once, since
// 53 >= 2 * 24 + 2.
float SumOfProducts(const double* a, const double* b, int64_t rows,
                    MatmulRule rule) {
  if (rule == MatmulRule::kExact) {
    double sum = 0;
    for (int64_t k = 0; k < rows; ++k) sum += a[k] * b[k];
    return static_cast<float>(sum);
  }
  const int64_t group =
      rule == MatmulRule::kSilicon ? static_cast<int64_t>(kGroupRows) : rows;
  float total = 0;
  for (int64_t first = 0; first < rows; first += group) {
    float chain = 0;
    for (int64_t k = first; k < std::min(first + group, rows); ++k) {
      chain = static_cast<float>(double{chain} + a[k] * b[k]);
    }
    total = first == 0 ? chain : total + chain;
  }
  return total;
}

// The loaded tile as columns of fp64 values, where it is not there already.
void Widen(LoadedTile& loaded) {
  if (!loaded.wide.empty()) return;
  const size_t rows = loaded.values.num_rows();
  const size_t columns = loaded.values.num_columns();
  loaded.wide.resize(rows * columns);
  for (size_t m = 0; m < columns; ++m) {
    for (size_t k = 0; k < rows; ++k) {
      loaded.wide[m * rows + k] = double{loaded.values.At(k, m)};
    }
  }
}

void MultiplyWide(LoadedTile& loaded, const MxMatrix& moving, MatmulRule rule,
                  const PsumSums& to) {
  Widen(loaded);
  const int64_t rows = kMxPacked * moving.rows;
  std::array<double, kMaxRows> column;
  for (int64_t n = 0; n < moving.columns; ++n) {
    for (int64_t k = 0; k < rows; ++k) {
      column[static_cast<size_t>(k)] =
          moving.Value(k / kMxPacked, n, k % kMxPacked);
    }
    for (int64_t m = 0; m < loaded.columns; ++m) {
      const float sum = SumOfProducts(loaded.wide.data() + m * rows,
                                      column.data(), rows, rule);
      to.sums[static_cast<size_t>(m) * to.stride + static_cast<size_t>(n)] =
          std::isnan(sum) ? std::numeric_limits<float>::quiet_NaN() : sum;
    }
  }
}

// ---- the instructions ----

void LoadMx(const MxMatrix& m, LoadedTile& loaded, CoreState& state) {
  float* const values = MatrixBuffer(state, 0, kMxPacked * m.rows * m.columns);
  Unpack(m, 0, m.columns, values);
  const size_t columns = static_cast<size_t>(m.columns);
  loaded.values.Load(values, columns, static_cast<size_t>(kMxPacked * m.rows),
                     columns, kGroupRows);
  loaded.wide.clear();
  if (!m.wide) return;
  for (int64_t n = 0; n < m.columns; ++n) {
    for (int64_t k = 0; k < kMxPacked * m.rows; ++k) {
      loaded.wide.push_back(m.Value(k / kMxPacked, n, k % kMxPacked));
    }
  }
}

void MultiplyMx(const LoadedTile& loaded, const MxMatrix& moving,
                MatmulRule rule, const PsumSums& to, CoreState& state) {
  float* const values =
      MatrixBuffer(state, 0, kMxPacked * moving.rows * kChunk);
  for (int64_t first = 0; first < moving.columns; first += kChunk) {
    const int64_t n = std::min(kChunk, moving.columns - first);
    Unpack(moving, first, n, values);
    MultiplyMoving(loaded.values, values, static_cast<size_t>(n),
                   static_cast<size_t>(n), rule, to.sums + first, to.stride,
                   to.write);
  }
}

absl::Status CheckMx(const Tile& data, std::string_view operand) {
  if (data.partitions % 32 == 0 && data.partitions <= 128) {
    return absl::OkStatus();
  }
  return MakeFault(
      Category::kIllegal, "load_stationary.shape",
      absl::StrCat("MX tiles have 32, 64, 96 or 128 partitions, "
                   "and ",
                   std::string(operand), " has ", data.partitions));
}

}  // namespace

absl::Status ExecuteLoadStationaryMx(const ExecuteArgs& args,
                                     CoreState& state) {
  using L = slot::LoadStationaryMx;
  const Tile& tile = args.slots[L::kStationary].tile;
  const Tile& scales = args.slots[L::kStationaryScale].tile;
  absl::Status status = CheckMx(tile, "stationary");
  if (status.ok() && state.check_memory) {
    status = AdmitUnwritten(state, tile, "stationary");
  }
  if (status.ok()) {
    status = CheckScales(scales, "stationary_scale", tile, state);
  }
  if (!status.ok()) return status;
  absl::StatusOr<LoadedTile*> place =
      PlaceTile({args.attributes[L::kStartRow].integer(), 0,
                 args.attributes[L::kRows].integer(), 128},
                tile.partitions, tile.free_size, state);
  if (!place.ok()) return place.status();
  LoadedTile& loaded = **place;
  LoadMx(ReadMx(tile, scales, state), loaded, state);
  loaded.dtype = tile.dtype;
  loaded.rows = tile.partitions;
  loaded.columns = tile.free_size;
  loaded.pass = 0;
  loaded.transpose = false;
  loaded.mx = true;
  loaded.perf_mode = PerfMode::kNone;
  return absl::OkStatus();
}

absl::Status ExecuteMultiplyMovingMx(const ExecuteArgs& args,
                                     CoreState& state) {
  using M = slot::MultiplyMovingMx;
  const Tile& dst = args.slots[M::kDst].tile;
  const Tile& moving = args.slots[M::kMoving].tile;
  const Tile& scales = args.slots[M::kMovingScale].tile;
  absl::Status status;
  if (state.check_memory) status = AdmitUnwritten(state, moving, "moving");
  if (status.ok()) status = CheckScales(scales, "moving_scale", moving, state);
  if (!status.ok()) return status;
  absl::StatusOr<LoadedTile*> found =
      FindTile({args.attributes[M::kStartRow].integer(), 0,
                args.attributes[M::kRows].integer(), 128},
               state);
  if (!found.ok()) return found.status();
  LoadedTile& loaded = **found;
  if (!loaded.mx) {
    return MakeFault(Category::kIllegal, "multiply_moving.mode",
                     "an MX multiplication does not follow an MX load");
  }
  status = CheckProductShape(loaded, moving, moving.free_size, dst);
  if (!status.ok()) return status;
  const MxMatrix matrix = ReadMx(moving, scales, state);
  const bool wide = matrix.wide || !loaded.wide.empty();
  absl::StatusOr<PsumSums> sums = BeginSums(
      args.attributes[M::kAccumulate].as<Accumulate>(), dst, state, !wide);
  if (!sums.ok()) return sums.status();
  if (wide) {
    MultiplyWide(loaded, matrix, state.numerics.matmul, *sums);
  } else {
    MultiplyMx(loaded, matrix, state.numerics.matmul, *sums, state);
  }
  EndSums(*sums, dst, state);
  return absl::OkStatus();
}

}  // namespace trnemu
