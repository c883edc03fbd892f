#include "core/engines/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/overlap.h"
#include "core/extent.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/formats.h"
#include "core/numerics/unsettled.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

template <typename T>
T* Grown(std::vector<T>& buffer, int64_t n) {
  const size_t size = static_cast<size_t>(n);
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

// Whether each row is an array of elements aligned for the host.
bool RowsAreAligned(const Tile& tile) {
  const uintptr_t size = SizeOf(tile.dtype);
  const uintptr_t base = reinterpret_cast<uintptr_t>(tile.base);
  const uintptr_t stride = static_cast<uintptr_t>(tile.partition_stride);
  return ((base | (tile.partitions == 1 ? 0 : stride)) & (size - 1)) == 0;
}

bool RowsAre(const Tile& tile, const Layout& layout, Dtype dtype) {
  return tile.dtype == dtype && layout.contiguous(SizeOf(dtype)) &&
         RowsAreAligned(tile);
}

}  // namespace

float* RowBuffer(CoreState& state, size_t index, int64_t n) {
  return Grown(state.rows[index], n);
}
float* MatrixBuffer(CoreState& state, size_t index, int64_t n) {
  return Grown(state.matrices[index], n);
}
uint32_t* BitsBuffer(CoreState& state, size_t index, int64_t n) {
  return Grown(state.bits[index], n);
}

void Warn(CoreState& state, Diagnostic diagnostic) {
  diagnostic.severity = Severity::kWarning;
  ++state.warnings_seen;
  if (state.findings != nullptr) state.findings->Warn(std::move(diagnostic));
}

absl::Status Admit(CoreState& state, absl::Status fault) {
  if (fault.ok() || state.allow.empty()) return fault;
  Diagnostic diagnostic = DiagnosticOf(fault);
  if (std::find(state.allow.begin(), state.allow.end(), diagnostic.id) ==
      state.allow.end()) {
    return fault;
  }
  if (state.findings != nullptr) state.findings->Warn(std::move(diagnostic));
  return absl::OkStatus();
}

absl::Status AdmitUnwritten(CoreState& state, const Tile& tile,
                            std::string_view operand, int64_t first,
                            int64_t count) {
  if (IsWritten(tile, first, count)) return absl::OkStatus();
  if (!state.allow.empty() && state.findings != nullptr &&
      state.findings->CountAgain("memory.read_unwritten")) {
    return absl::OkStatus();
  }
  return Admit(state, CheckWritten(tile, operand, first, count));
}

absl::Status PackedHasNoValue(const Tile& tile, std::string_view operand) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "cast.packed";
  d.operand = std::string(operand);
  d.message = absl::StrCat(
      std::string(operand), " is ", std::string(Name(tile.dtype)),
      ", whose elements hold four numbers: no document says what arithmetic "
      "on it or a cast of it gives");
  d.details = {{"dtype", std::string(Name(tile.dtype))}};
  d.remedy = "view the bytes as an integer dtype, or copy to the same dtype";
  return ToStatus(std::move(d));
}

bool MayOverlap(const Tile& a, const Tile& b) {
  if (a.space != b.space || a.partition_stride != b.partition_stride) {
    return false;
  }
  const auto [a_low, a_high] = RowExtent(a);
  const auto [b_low, b_high] = RowExtent(b);
  const ptrdiff_t stride = a.partition_stride;
  const ptrdiff_t distance =
      static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(b.base) -
                             reinterpret_cast<uintptr_t>(a.base)) +
      b_low - a_low;
  if (stride == 0) {
    return distance < a_high - a_low && -distance < b_high - b_low;
  }
  const ptrdiff_t ahead = ((distance % stride) + stride) % stride;
  return ahead < a_high - a_low || stride - ahead < b_high - b_low;
}

// ---- RowReader ----

RowReader::RowReader(const Tile& tile, const NumericsOptions& options)
    : tile_(tile), options_(options), layout_(RowLayout(tile)) {
  contiguous_ = layout_.contiguous(SizeOf(tile.dtype));
  in_place_ = options.subnormals == Subnormals::kKeep &&
              RowsAre(tile, layout_, Dtype::kFloat32);
}

RowReader::RowReader(const Tile& tile, CoreState& state,
                     std::string_view operand, bool matters)
    : RowReader(tile, state.numerics) {
  if (!matters || !state.check_values || !Is32BitInteger(tile.dtype)) return;
  watch_ = &state;
  operand_ = operand;
}

RowReader::~RowReader() {
  if (found_.any()) WarnInexactElement(*watch_, operand_, tile_, found_);
}

void RowReader::Look(int64_t partition) const {
  if (found_.any() && partition >= found_.partition) return;
  const int64_t at = FirstInexact(tile_, partition);
  if (at == tile_.free_size) return;
  uint32_t word = 0;
  ForEachRun(layout_, at, 1, [&](ptrdiff_t offset, int64_t, int64_t) {
    LoadBits(tile_.dtype, base(partition) + offset, 0, 1, &word);
  });
  const double value = tile_.dtype == Dtype::kInt32
                           ? static_cast<double>(static_cast<int32_t>(word))
                           : static_cast<double>(word);
  found_ = {partition, at, value,
            static_cast<double>(static_cast<float>(value))};
}

bool RowReader::IsArrayOf(Dtype dtype) const {
  return options_.subnormals == Subnormals::kKeep &&
         RowsAre(tile_, layout_, dtype);
}

const float* RowReader::ReadInto(int64_t partition, float* buffer) const {
  if (watch_ != nullptr) Look(partition);
  const std::byte* row = base(partition);
  ForEachRun(layout_, 0, tile_.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               WidenRow(tile_.dtype, row + offset, layout_.step(),
                        static_cast<size_t>(n), options_, buffer + first);
             });
  return buffer;
}

void RowReader::ReadBits(int64_t partition, uint32_t* buffer) const {
  const std::byte* row = base(partition);
  ForEachRun(layout_, 0, tile_.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               LoadBits(tile_.dtype, row + offset, layout_.step(),
                        static_cast<size_t>(n), buffer + first);
             });
}

// ---- ColumnReader ----

float ColumnReader::At(int64_t partition) const {
  if (slot_.kind != Operand::Kind::kAccess) return slot_.immediate;
  const Tile& tile = slot_.tile;
  float value = 0;
  WidenRow(tile.dtype, tile.base + partition * tile.partition_stride, 0, 1,
           options_, &value);
  return value;
}

uint32_t ColumnReader::BitsAt(int64_t partition) const {
  if (slot_.kind != Operand::Kind::kAccess) {
    const double value = operand_.immediate;
    if (!(value >= -0x1p62 && value <= 0x1p62)) return 0;
    return static_cast<uint32_t>(static_cast<int64_t>(value));
  }
  const Tile& tile = slot_.tile;
  uint32_t bits = 0;
  LoadBits(tile.dtype, tile.base + partition * tile.partition_stride, 0, 1,
           &bits);
  return bits;
}

// ---- RowWriter ----

RowWriter::RowWriter(const Tile& tile, std::string_view operand,
                     CoreState& state)
    : tile_(tile),
      operand_(operand),
      state_(state),
      layout_(RowLayout(tile)),
      may_overflow_(state.check_values && CanOverflow(tile.dtype)) {
  in_place_ = state.numerics.subnormals == Subnormals::kKeep &&
              RowsAre(tile, layout_, Dtype::kFloat32);
}

RowWriter::~RowWriter() {
  if (overflow_.any()) WarnOverflow(state_, operand_, tile_, overflow_);
}

void RowWriter::LookForOverflow(int64_t partition, const float* row) {
  if (overflow_.any() && partition >= overflow_.partition) return;
  const auto n = static_cast<size_t>(tile_.free_size);
  const size_t at = FirstOverflow(tile_.dtype, row, n);
  if (at == n) return;
  overflow_ = {partition, static_cast<int64_t>(at),
               static_cast<double>(row[at])};
}

void RowWriter::Reads(const Tile& source) {
  if (!MayOverlap(tile_, source)) return;
  const bool same = source.base == tile_.base && source.dtype == tile_.dtype &&
                    source.free_size == tile_.free_size &&
                    RowLayout(source).contiguous(SizeOf(source.dtype));
  if (same) return;
  WarnOfOverlap(tile_, source, state_);
  overlaps_ = true;
  in_place_ = false;
}

void RowWriter::Reads(const ColumnReader& source) {
  if (source.tile() != nullptr) Reads(*source.tile());
}

bool RowWriter::IsArrayOf(Dtype dtype) const {
  return !overlaps_ && state_.numerics.subnormals == Subnormals::kKeep &&
         RowsAre(tile_, layout_, dtype);
}

void RowWriter::Write(int64_t partition, const float* row) {
  std::byte* const to = base(partition);
  if (reinterpret_cast<const std::byte*>(row) == to) return;
  if (!reported_ && IsInteger(tile_.dtype)) ReportNan(partition, row);
  if (may_overflow_) LookForOverflow(partition, row);
  ForEachRun(layout_, 0, tile_.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               NarrowRow(row + first, static_cast<size_t>(n), tile_.dtype,
                         to + offset, layout_.step(), state_.numerics);
             });
}

void RowWriter::WriteBits(int64_t partition, const uint32_t* row) {
  std::byte* const to = base(partition);
  ForEachRun(layout_, 0, tile_.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               StoreBits(tile_.dtype, row + first, static_cast<size_t>(n),
                         to + offset, layout_.step());
             });
}

void RowWriter::ReportNan(int64_t partition, const float* row) {
  const size_t n = static_cast<size_t>(tile_.free_size);
  const size_t first = FirstNan(row, n);
  if (first == n) return;
  reported_ = true;
  WarnNanToInteger(state_, operand_, tile_, partition,
                   static_cast<int64_t>(first));
}

// ---- numbers ----

uint32_t BitsOfNumber(double value, Dtype dtype,
                      const NumericsOptions& options) {
  if (dtype == Dtype::kInt32 || dtype == Dtype::kUint32) {
    // fp32 does not hold every 32-bit integer.
    const bool is_signed = dtype == Dtype::kInt32;
    const double low = is_signed ? -0x1p31 : 0;
    const double high = is_signed ? 0x1p31 - 1 : 0x1p32 - 1;
    if (std::isnan(value)) {
      return is_signed ? NanAsInteger<int32_t>(options.nan_to_integer)
                       : NanAsInteger<uint32_t>(options.nan_to_integer);
    }
    const double rounded = std::nearbyint(std::clamp(value, low, high));
    return static_cast<uint32_t>(static_cast<int64_t>(rounded));
  }
  if (IsPacked(dtype)) return 0;
  const float number = static_cast<float>(value);
  std::byte bytes[4] = {};
  NarrowRow(&number, 1, dtype, bytes, 4, options);
  uint32_t bits = 0;
  LoadBits(dtype, bytes, 4, 1, &bits);
  return bits;
}

void WarnNanToInteger(CoreState& state, std::string_view operand,
                      const Tile& tile, int64_t partition, int64_t element) {
  const int64_t where = tile.first_partition + partition;
  const NanToInteger rule = state.numerics.nan_to_integer;
  const char* const taken = rule == NanToInteger::kZero     ? "0"
                            : rule == NanToInteger::kLowest ? "its lowest value"
                                                            : "its highest "
                                                              "value";
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "cast.nan_to_integer";
  d.operand = std::string(operand);
  d.message = absl::StrCat(
      std::string(operand), " casts NaN to ", std::string(Name(tile.dtype)),
      " at partition ", where, ", element ", element,
      ": no document says what that gives; it was taken as ", taken);
  d.details = {{"partition", absl::StrCat(where)},
               {"element", absl::StrCat(element)},
               {"value", "nan"},
               {"dtype", std::string(Name(tile.dtype))}};
  d.remedy = "replace NaN before the cast, or keep a floating-point dtype";
  d.reference = "release-notes/components/nki.rst:71";
  Warn(state, std::move(d));
}

}  // namespace trnemu
