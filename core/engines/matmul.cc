// LoadStationary and MultiplyMoving, the transpose mode included.
//
// What the sums are: core/numerics/matmul.h. How they meet what PSUM holds:
//   accumulate=False  overwrites;
//   accumulate=None   adds to each element that a matmul wrote last since its
//                     PsumReset, else overwrites it (spec/decisions.md);
//   accumulate=True   adds; onto what was never written it is an error on
//                     every generation, onto what another instruction wrote
//                     on those that cannot (nki/api/nki/isa/__init__.py:543).
// A bf16 or fp16 destination is widened, added to in fp32 and cast once
// (nki/guides/architecture/trainium3_arch.rst:139).
#include "core/numerics/matmul.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

constexpr int64_t kArray = 128;  // rows and columns
constexpr unsigned kOnlyMatmul = 1u << static_cast<int>(PsumWriter::kMatmul);
constexpr unsigned kSomeNothing = 1u << static_cast<int>(PsumWriter::kNothing);
constexpr unsigned kSomeOther = 1u << static_cast<int>(PsumWriter::kOther);

absl::Status Illegal(std::string_view id, const std::string& message) {
  return MakeFault(Category::kIllegal, id, message);
}

absl::Status DoubleRow() {
  return MakeFault(Category::kUnsupported, "nc_matmul.double_row",
                   "trnemu does not have perf_mode double_row yet");
}

bool ExactTranspose(const Attribute& transpose, const CoreState& state) {
  return transpose.boolean() && state.hardware->features.exact_tensor_transpose;
}

// ---- operands as matrices, a partition a row ----

struct Matrix {
  const float* values;
  size_t stride;  // elements
};

// The tile as fp32: where it lies, or in matrix buffer `index`.
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

// ---- LoadStationary ----

absl::Status CheckStationary(const ExecuteArgs& args, bool transpose) {
  using S = slot::LoadStationary;
  const Tile& tile = args.slots[S::kStationary].tile;
  const int64_t pass = args.attributes[S::kPass].integer();
  if (args.attributes[S::kPerfMode].as<PerfMode>() == PerfMode::kDoubleRow) {
    return DoubleRow();
  }
  if (tile.partitions > kArray || tile.free_size > kArray) {
    return Illegal(
        "load_stationary.shape",
        absl::StrCat("stationary is ", tile.partitions, " x ", tile.free_size,
                     ", and the array holds ", kArray, " x ", kArray));
  }
  // A tfloat32 tile takes two passes where the other operand is float32.
  const bool two = tile.dtype == Dtype::kFloat32 ||
                   (tile.dtype == Dtype::kTFloat32 && pass != 0);
  if (!transpose && two != (pass != 0)) {
    return Illegal("load_stationary.pass",
                   absl::StrCat("pass is ", pass, " for a stationary tile of ",
                                std::string(Name(tile.dtype)),
                                ": float32 takes passes 1 and 2, other "
                                "dtypes take pass 0"));
  }
  return absl::OkStatus();
}

void LoadBitsOf(const Tile& tile, CoreState& state) {
  const int64_t n = tile.free_size;
  const size_t size = static_cast<size_t>(tile.partitions * n);
  std::vector<uint32_t>& bits = state.stationary_bits;
  if (bits.size() < size) bits.resize(size);
  const RowReader reader(tile, state.numerics);
  for (uint32_t p = 0; p < tile.partitions; ++p) {
    reader.ReadBits(p, bits.data() + p * n);
  }
}

// trn1 has no transpose mode: its transpose is a matmul with an identity, whose
// products with 0 and 1 are exact whole. Halves would turn an infinity into NaN
// (cases/behaviours.md 5: infinity stays in its place, NaN beside it).
MatmulRule RuleOf(const Attribute& transpose, const CoreState& state) {
  return transpose.boolean() ? MatmulRule::kChain : state.numerics.matmul;
}

void LoadValues(const Tile& tile, int64_t pass, MatmulRule rule,
                CoreState& state) {
  const size_t rows = tile.partitions;
  const size_t columns = static_cast<size_t>(tile.free_size);
  const RowReader reader(tile, state.numerics);
  if (reader.IsArrayOf(Dtype::kBFloat16)) {
    state.stationary.LoadBf16(
        reinterpret_cast<const uint16_t*>(reader.base(0)),
        static_cast<size_t>(tile.partition_stride) / sizeof(uint16_t), rows,
        columns);
    return;
  }
  const Matrix matrix = FloatMatrix(tile, 0, state);
  if (pass == 0) {
    state.stationary.Load(matrix.values, matrix.stride, rows, columns);
  } else {
    state.stationary.LoadHalf(pass == 1 ? Fp32Half::kLo : Fp32Half::kHi, rule,
                              matrix.values, matrix.stride, rows, columns);
  }
}

// ---- MultiplyMoving ----

using S = slot::MultiplyMoving;

std::array<int64_t, 4> PositionOf(const ExecuteArgs& args) {
  return {args.attributes[S::kStartRow].integer(),
          args.attributes[S::kStartColumn].integer(),
          args.attributes[S::kRows].integer(),
          args.attributes[S::kColumns].integer()};
}

std::string DescribePosition(const std::array<int64_t, 4>& p) {
  return absl::StrCat(p[2], " x ", p[3], " at row ", p[0], ", column ", p[1]);
}

absl::Status CheckLoaded(const ExecuteArgs& args, bool transpose,
                         const CoreState& state) {
  if (state.stationary_rows == 0) {
    return MakeFault(Category::kUninitialized, "multiply_moving.nothing_loaded",
                     "the tensor engine multiplies before anything was loaded "
                     "into its array");
  }
  const std::array<int64_t, 4> position = PositionOf(args);
  if (position != state.stationary_position) {
    return MakeFault(
        Category::kUnsupported, "multiply_moving.tile_position",
        absl::StrCat("the tile of the array is ", DescribePosition(position),
                     ", and the last load was for ",
                     DescribePosition(state.stationary_position),
                     "; trnemu keeps one loaded tile"));
  }
  const int64_t pass = args.attributes[S::kPass].integer();
  if (pass != state.stationary_pass ||
      transpose != state.stationary_transpose) {
    return Illegal(
        "multiply_moving.mode",
        absl::StrCat("pass ", pass, " with transpose ", transpose,
                     " does not follow a load for pass ", state.stationary_pass,
                     " with transpose ", state.stationary_transpose));
  }
  return absl::OkStatus();
}

absl::Status CheckMoving(const ExecuteArgs& args, bool transpose,
                         const CoreState& state) {
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& moving = args.slots[S::kMoving].tile;
  if (args.attributes[S::kPerfMode].as<PerfMode>() == PerfMode::kDoubleRow) {
    return DoubleRow();
  }
  absl::Status loaded = CheckLoaded(args, transpose, state);
  if (!loaded.ok()) return loaded;
  if (moving.partitions != state.stationary_rows ||
      dst.partitions != state.stationary_columns ||
      dst.free_size != moving.free_size) {
    return Illegal(
        "multiply_moving.shape",
        absl::StrCat("the array holds ", state.stationary_rows, " x ",
                     state.stationary_columns, ", moving is ",
                     moving.partitions, " x ", moving.free_size, " and dst is ",
                     dst.partitions, " x ", dst.free_size));
  }
  return absl::OkStatus();
}

// How the sums meet what PSUM holds.
enum class Meet : uint8_t { kOverwrite, kAdd, kByElement };

// Where the first element of dst is whose last writer is `writer`.
struct Place {
  int64_t partition = 0;
  ptrdiff_t offset = 0;  // bytes
};

Place FirstWrittenBy(const Tile& dst, PsumWriter writer) {
  const Layout layout = RowLayout(dst);
  Place place;
  bool found = false;
  for (uint32_t p = 0; p < dst.partitions && !found; ++p) {
    ForEachRun(layout, 0, dst.free_size,
               [&](ptrdiff_t offset, int64_t, int64_t n) {
                 for (int64_t i = 0; i < n && !found; ++i) {
                   place = {p, offset + i * layout.step()};
                   found = PsumWriterAt(dst, p, place.offset) == writer;
                 }
                 return !found;
               });
  }
  return place;
}

absl::Status CannotAccumulate(const Tile& dst, PsumWriter writer) {
  const Place at = FirstWrittenBy(dst, writer);
  const int64_t bytes = static_cast<int64_t>(SizeOf(dst.dtype));
  const int64_t begin = dst.address + at.offset;
  const bool nothing = writer == PsumWriter::kNothing;
  Diagnostic d;
  d.category = nothing ? Category::kUninitialized : Category::kUnspecified;
  d.id = nothing ? "nc_matmul.accumulate_unwritten"
                 : "nc_matmul.accumulate_on_other";
  d.operand = "dst";
  d.message = absl::StrCat(
      "accumulate=True adds to ",
      DescribeBytes(dst, at.partition, at.offset, bytes),
      nothing ? ", which nothing has written since its allocation"
              : ", which an instruction other than a matmul wrote last");
  d.details = {
      {"bank", absl::StrCat(begin / kPsumBankBytes)},
      {"partition", absl::StrCat(dst.first_partition + at.partition)},
      {"byte_range", absl::StrCat("[", begin, ", ", begin + bytes, ")")}};
  d.remedy =
      "let the first matmul of the group overwrite: accumulate=False, or leave "
      "it out";
  d.reference = nothing ? "nki/api/nki/isa/__init__.py:543"
                        : "nki/api/nki/isa/__init__.py:554";
  return ToStatus(std::move(d));
}

absl::StatusOr<Meet> MeetOf(Accumulate accumulate, unsigned writers,
                            const Tile& dst, CoreState& state) {
  if (accumulate == Accumulate::kFalse) return Meet::kOverwrite;
  if (accumulate == Accumulate::kTrue) {
    if (!state.check_memory) return Meet::kAdd;
    absl::Status status;
    if (writers & kSomeNothing) {
      status = Admit(state, CannotAccumulate(dst, PsumWriter::kNothing));
    }
    if (status.ok() && (writers & kSomeOther) &&
        !state.hardware->features.psum_accumulates_any) {
      status = Admit(state, CannotAccumulate(dst, PsumWriter::kOther));
    }
    if (!status.ok()) return status;
    return Meet::kAdd;
  }
  if ((writers & kOnlyMatmul) == 0) return Meet::kOverwrite;
  return writers == kOnlyMatmul ? Meet::kAdd : Meet::kByElement;
}

// Streams the moving tile through the array into `sums`.
void Multiply(const Tile& moving, int64_t pass, MatmulRule rule,
              PsumWrite write, float* sums, size_t stride, CoreState& state) {
  const size_t n = static_cast<size_t>(moving.free_size);
  const RowReader reader(moving, state.numerics);
  if (pass == 0 && reader.IsArrayOf(Dtype::kBFloat16)) {
    MultiplyMovingBf16(
        state.stationary, reinterpret_cast<const uint16_t*>(reader.base(0)),
        static_cast<size_t>(moving.partition_stride) / sizeof(uint16_t), n,
        rule, sums, stride, write);
    return;
  }
  const Matrix matrix = FloatMatrix(moving, 0, state);
  if (pass == 0) {
    MultiplyMoving(state.stationary, matrix.values, matrix.stride, n, rule,
                   sums, stride, write);
  } else {
    MultiplyMovingFp32Pass(state.stationary, matrix.values, matrix.stride, n,
                           rule, sums, stride, write);
  }
}

// total[i] becomes sums[i] where the last writer is not a matmul.
void KeepSums(const Tile& dst, int64_t partition, const float* sums,
              float* total) {
  const Layout layout = RowLayout(dst);
  ForEachRun(layout, 0, dst.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 const ptrdiff_t at = offset + i * layout.step();
                 if (PsumWriterAt(dst, partition, at) != PsumWriter::kMatmul) {
                   total[first + i] = sums[first + i];
                 }
               }
             });
}

// Writes or adds the rows of `sums` (dst.free_size apart) to dst.
void Store(const Tile& dst, Meet meet, float* sums, CoreState& state) {
  const int64_t n = dst.free_size;
  const RowReader reader(dst, state.numerics);
  RowWriter writer(dst, "dst", state);
  float* const total = RowBuffer(state, 0, n);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    float* const row = sums + p * n;
    if (meet == Meet::kOverwrite) {
      writer.Write(p, row);
      continue;
    }
    reader.ReadInto(p, total);
    AccumulateRow(total, row, static_cast<size_t>(n));
    if (meet == Meet::kByElement) KeepSums(dst, p, row, total);
    writer.Write(p, total);
  }
}

void MultiplyInto(const Tile& dst, const Tile& moving, int64_t pass,
                  MatmulRule rule, Meet meet, CoreState& state) {
  const RowReader target(dst, state.numerics);
  if (meet != Meet::kByElement && target.in_place()) {
    const PsumWrite write =
        meet == Meet::kAdd ? PsumWrite::kAccumulate : PsumWrite::kOverwrite;
    Multiply(moving, pass, rule, write,
             reinterpret_cast<float*>(target.base(0)),
             static_cast<size_t>(dst.partition_stride) / sizeof(float), state);
    return;
  }
  const int64_t n = dst.free_size;
  float* const sums = MatrixBuffer(state, 1, dst.partitions * n);
  Multiply(moving, pass, rule, PsumWrite::kOverwrite, sums,
           static_cast<size_t>(n), state);
  Store(dst, meet, sums, state);
}

// ---- transpose mode ----

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
                        const uint32_t* bits, CoreState& state) {
  const Dtype from = state.stationary_dtype;
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
void MultiplyBits(const Tile& dst, const Matrix& moving, CoreState& state) {
  const size_t rows = static_cast<size_t>(state.stationary_rows);
  const size_t columns = static_cast<size_t>(state.stationary_columns);
  const Dtype from = state.stationary_dtype;
  const ptrdiff_t step = static_cast<ptrdiff_t>(SizeOf(from));
  float* const values =
      MatrixBuffer(state, 2, state.stationary_rows * state.stationary_columns);
  float* const packed = RowBuffer(state, 0, state.stationary_columns);
  std::byte* const bytes = reinterpret_cast<std::byte*>(packed);
  for (size_t k = 0; k < rows; ++k) {
    StoreBits(from, state.stationary_bits.data() + k * columns, columns, bytes,
              step);
    WidenRow(from, bytes, step, columns, state.numerics, values + k * columns);
  }
  state.stationary.Load(values, columns, rows, columns);
  const size_t n = static_cast<size_t>(dst.free_size);
  float* const sums = MatrixBuffer(state, 1, dst.partitions * dst.free_size);
  MultiplyMoving(state.stationary, moving.values, moving.stride, n,
                 MatmulRule::kChain, sums, n, PsumWrite::kOverwrite);
  Store(dst, Meet::kOverwrite, sums, state);
}

void TransposeInto(const Tile& dst, const Tile& tile, CoreState& state) {
  const Matrix moving = FloatMatrix(tile, 0, state);
  uint32_t* const rows = BitsBuffer(state, 0, dst.free_size);
  if (!SelectedRows(moving, tile, rows, state)) {
    MultiplyBits(dst, moving, state);
    return;
  }
  uint32_t* const row = BitsBuffer(state, 1, dst.free_size);
  RowWriter writer(dst, "dst", state);
  for (uint32_t m = 0; m < dst.partitions; ++m) {
    for (int64_t n = 0; n < dst.free_size; ++n) {
      row[n] = state.stationary_bits[static_cast<size_t>(
          rows[n] * state.stationary_columns + m)];
    }
    StoreTransposedRow(writer, dst, m, row, state);
  }
}

}  // namespace

absl::Status ExecuteLoadStationary(const ExecuteArgs& args, CoreState& state) {
  using L = slot::LoadStationary;
  const Tile& tile = args.slots[L::kStationary].tile;
  const bool transpose = ExactTranspose(args.attributes[L::kTranspose], state);
  const int64_t pass = args.attributes[L::kPass].integer();
  absl::Status status = CheckStationary(args, transpose);
  if (!status.ok()) return status;
  if (transpose) {
    LoadBitsOf(tile, state);
  } else {
    LoadValues(tile, pass, RuleOf(args.attributes[L::kTranspose], state),
               state);
  }
  state.stationary_dtype = tile.dtype;
  state.stationary_rows = tile.partitions;
  state.stationary_columns = tile.free_size;
  state.stationary_pass = pass;
  state.stationary_transpose = transpose;
  state.stationary_position = {args.attributes[L::kStartRow].integer(),
                               args.attributes[L::kStartColumn].integer(),
                               args.attributes[L::kRows].integer(),
                               args.attributes[L::kColumns].integer()};
  return absl::OkStatus();
}

absl::Status ExecuteMultiplyMoving(const ExecuteArgs& args, CoreState& state) {
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& moving = args.slots[S::kMoving].tile;
  const bool transpose = ExactTranspose(args.attributes[S::kTranspose], state);
  const Accumulate accumulate =
      args.attributes[S::kAccumulate].as<Accumulate>();
  absl::Status status = CheckMoving(args, transpose, state);
  if (!status.ok()) return status;
  unsigned writers = 0;
  if (transpose) {
    TransposeInto(dst, moving, state);
  } else {
    if (accumulate != Accumulate::kFalse) writers = PsumWriters(dst);
    absl::StatusOr<Meet> meet = MeetOf(accumulate, writers, dst, state);
    if (!meet.ok()) return meet.status();
    MultiplyInto(dst, moving, args.attributes[S::kPass].integer(),
                 RuleOf(args.attributes[S::kTranspose], state), *meet, state);
  }
  // What a matmul wrote last is marked already.
  if (writers == kOnlyMatmul) return absl::OkStatus();
  MarkPsum(dst, PsumWriter::kMatmul);
  if (state.check_memory) MarkWritten(dst);
  return absl::OkStatus();
}

}  // namespace trnemu
