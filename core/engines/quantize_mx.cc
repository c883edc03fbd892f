// QuantizeMx: fp16 or bf16 to MXFP8 elements and their scales.
//
// Of a group of 32 values with the largest magnitude a, the scale is X = 2^E,
//   E = floor(log2 a) - (Emax - 1),  Emax 8 (e4m3fn) or 15 (e5m2),
// 2^-127 if a is 0, and elements are V / X (nki/api/nki/isa/__init__.py:2798).
// mx_scale=legacy is the rule of API 0.4 and before: without the - 1, and
// elements beyond the format's largest become that
// (nki/deep-dives/src/mxfp-matmul/mx_cpu_utils.py:84). Undocumented: E is
// clamped to [-127, 127]; elements round to nearest even; a group with a NaN or
// an infinity gets scale code 255 and NaN elements (spec/numerics.md 15.14).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/mx.h"
#include "core/engines/rows.h"
#include "core/numerics/convert.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

constexpr uint32_t kInfinity = 0x7F800000;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The element format and how its scale is taken.
struct Format {
  Dtype element;
  int subtract;   // from floor(log2 a)
  float largest;  // where elements saturate; infinity if they do not
};

Format FormatOf(Dtype packed, MxScale rule) {
  const bool e5m2 = packed == Dtype::kFloat8E5M2X4;
  const int emax = e5m2 ? 15 : 8;
  const bool legacy = rule == MxScale::kLegacy;
  return {e5m2 ? Dtype::kFloat8E5M2 : Dtype::kFloat8E4M3FN,
          legacy ? emax : emax - 1,
          legacy ? (e5m2 ? 57344.0f : 448.0f)
                 : std::numeric_limits<float>::infinity()};
}

// floor(log2 a) of the bits of a positive finite fp32.
int FloorLog2(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 23);
  return exponent != 0 ? exponent - 127
                       : static_cast<int>(std::bit_width(bits)) - 150;
}

// The scale's code of a group whose largest magnitude has these bits.
uint32_t ScaleCode(uint32_t largest, const Format& format) {
  if (largest >= kInfinity) return 255;
  if (largest == 0) return 0;
  const int e = FloorLog2(largest) - format.subtract;
  return static_cast<uint32_t>(std::clamp(e, -127, 127) + 127);
}

// 1 / X, exact; NaN for code 255.
float FactorOf(uint32_t code) {
  if (code == 255) return kNan;
  // 2^-127 is subnormal.
  return code == 254 ? 0x1p-127f : std::bit_cast<float>((254 - code) << 23);
}

void WarnNotFinite(const Tile& src, int64_t partition, int64_t element,
                   float value, CoreState& state) {
  const int64_t where = src.first_partition + partition;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "quantize_mx.not_finite";
  d.operand = "src";
  d.message = absl::StrCat(
      "src has ", value, " at partition ", where, ", element ", element,
      ": no document says what its group of 32 becomes; its scale is 255 and "
      "its elements are NaN");
  d.details = {{"partition", absl::StrCat(where)},
               {"element", absl::StrCat(element)},
               {"value", absl::StrCat(value)}};
  d.remedy = "clamp src to finite values first";
  d.reference = "nki/api/nki/isa/__init__.py:2798";
  Warn(state, std::move(d));
}

// The eight rows of a group, with the scale codes of their columns.
struct Group {
  float* values;     // 8 x free_size
  uint32_t* codes;   // free_size / 4
  float* factors;    // 1 / X, free_size / 4
  int64_t elements;  // free_size
};

void TakeScales(const Group& g, const Format& format) {
  for (int64_t k = 0; k < g.elements / kMxPacked; ++k) {
    uint32_t largest = 0;
    for (int64_t p = 0; p < kMxGroupPartitions; ++p) {
      const float* const v = g.values + p * g.elements + k * kMxPacked;
      for (int64_t j = 0; j < kMxPacked; ++j) {
        largest = std::max(largest, std::bit_cast<uint32_t>(v[j]) & 0x7FFFFFFF);
      }
    }
    g.codes[k] = ScaleCode(largest, format);
    g.factors[k] = FactorOf(g.codes[k]);
  }
}

void Divide(const Group& g, const Format& format, int64_t row) {
  float* const v = g.values + row * g.elements;
  for (int64_t k = 0; k < g.elements / kMxPacked; ++k) {
    const float factor = g.factors[k];
    for (int64_t i = k * kMxPacked; i < (k + 1) * kMxPacked; ++i) {
      const float q =
          std::clamp(v[i] * factor, -format.largest, format.largest);
      v[i] = std::isnan(q) ? kNan : q;  // without a sign
    }
  }
}

// Reports the first value that is not finite.
void ReportNotFinite(const Tile& src, const Group& g, int64_t first_partition,
                     CoreState& state) {
  for (int64_t i = 0; i < kMxGroupPartitions * g.elements; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(g.values[i]);
    if ((bits & 0x7FFFFFFF) < kInfinity) continue;
    WarnNotFinite(src, first_partition + i / g.elements, i % g.elements,
                  g.values[i], state);
    return;
  }
}

}  // namespace

absl::Status ExecuteQuantizeMx(const ExecuteArgs& args, CoreState& state) {
  using Q = slot::QuantizeMx;
  const Tile& dst = args.slots[Q::kDst].tile;
  const Tile& src = args.slots[Q::kSrc].tile;
  const Tile& scales = args.slots[Q::kDstScale].tile;
  if (state.check_memory) {
    absl::Status status = AdmitUnwritten(state, src, "src");
    if (!status.ok()) return status;
  }
  const Format format = FormatOf(dst.dtype, state.numerics.mx_scale);
  const int64_t n = src.free_size;
  const Group group = {MatrixBuffer(state, 0, kMxGroupPartitions * n),
                       BitsBuffer(state, 0, n / kMxPacked),
                       RowBuffer(state, 0, n / kMxPacked), n};
  uint32_t* const packed = BitsBuffer(state, 1, n / kMxPacked);
  const RowReader reader(src, state.numerics);
  RowWriter writer(dst, "dst", state);
  RowWriter scale_writer(scales, "dst_scale", state);
  bool reported = false;
  for (int64_t first = 0; first < src.partitions; first += kMxGroupPartitions) {
    for (int64_t p = 0; p < kMxGroupPartitions; ++p) {
      reader.ReadInto(first + p, group.values + p * n);
    }
    TakeScales(group, format);
    const bool finite = std::find(group.codes, group.codes + n / kMxPacked,
                                  255u) == group.codes + n / kMxPacked;
    if (!finite && !reported) ReportNotFinite(src, group, first, state);
    reported = reported || !finite;
    for (int64_t p = 0; p < kMxGroupPartitions; ++p) {
      Divide(group, format, p);
      NarrowRow(group.values + p * n, static_cast<size_t>(n), format.element,
                reinterpret_cast<std::byte*>(packed), 1, state.numerics);
      writer.WriteBits(first + p, packed);
    }
    const int64_t row = MxScaleRow(first / kMxGroupPartitions);
    scale_writer.WriteBits(row, group.codes);
    if (state.check_memory) {
      MarkWritten(scales, row * scales.free_size, scales.free_size);
    }
  }
  if (state.check_memory) MarkWritten(dst);
  return absl::OkStatus();
}

}  // namespace trnemu
