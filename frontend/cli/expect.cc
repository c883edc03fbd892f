#include "frontend/cli/expect.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"
#include "core/numerics/convert.h"
#include "isa/access.h"

namespace trnemu::cli {
namespace {

uint32_t BitsAt(std::span<const std::byte> bytes, size_t width, int64_t i) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes.data() + static_cast<size_t>(i) * width, width);
  return bits;
}

double IntegerOf(uint32_t bits, Dtype dtype) {
  switch (dtype) {
    case Dtype::kInt8:
      return static_cast<int8_t>(bits);
    case Dtype::kInt16:
      return static_cast<int16_t>(bits);
    case Dtype::kInt32:
      return static_cast<int32_t>(bits);
    default:
      return bits;
  }
}

// Element `i` of an array of the device's format.
double NumberOf(std::span<const std::byte> bytes, Dtype dtype, int64_t i) {
  const size_t width = SizeOf(dtype);
  if (IsInteger(dtype) || IsPacked(dtype)) {
    return IntegerOf(BitsAt(bytes, width, i), dtype);
  }
  float value = 0;
  WidenRow(dtype, bytes.data() + static_cast<size_t>(i) * width,
           static_cast<ptrdiff_t>(width), 1, NumericsOptions{}, &value);
  return value;
}

double NumberOf(const NamedArray& want, int64_t i) {
  const bool same = npy::Holds(want.array.type(), want.tensor->dtype);
  return same ? NumberOf(want.array.bytes(), want.tensor->dtype, i)
              : want.array.Number(i);
}

std::vector<int64_t> IndexOf(int64_t i, std::span<const int64_t> shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = i % shape[d];
    i /= shape[d];
  }
  return index;
}

bool Same(double got, double want) {
  return got == want || (std::isnan(got) && std::isnan(want));
}

// How far beyond its tolerance, as a multiple of it: above 1 is a mismatch.
double Excess(double got, double want, double rtol, double atol) {
  if (Same(got, want)) return 0;
  const double error = std::fabs(got - want);
  const double tolerance = atol + rtol * std::fabs(want);
  if (!std::isfinite(error) || !std::isfinite(tolerance)) return INFINITY;
  if (tolerance == 0) return INFINITY;
  return error / tolerance;
}

}  // namespace

Comparison Compare(const HostArray& got, const NamedArray& want, double rtol,
                   double atol) {
  Comparison c;
  c.name = want.tensor->name;
  c.file = want.file;
  c.rtol = rtol;
  c.atol = atol;
  c.elements = want.array.size();
  double worst = -1;
  int64_t worst_at = -1;
  for (int64_t i = 0; i < c.elements; ++i) {
    const double a = NumberOf(got.bytes, got.dtype, i);
    const double b = NumberOf(want, i);
    const double excess = Excess(a, b, rtol, atol);
    if (excess > 1) ++c.mismatches;
    const double error = Same(a, b) ? 0 : std::fabs(a - b);
    if (std::isfinite(error)) {
      c.max_abs_error = std::max(c.max_abs_error, error);
      if (b != 0)
        c.max_rel_error = std::max(c.max_rel_error, error / std::fabs(b));
    }
    if (excess <= worst) continue;
    worst = excess;
    worst_at = i;
    c.worst_got = a;
    c.worst_want = b;
  }
  if (worst_at >= 0) c.worst_index = IndexOf(worst_at, got.shape);
  return c;
}

std::string Describe(const Comparison& c) {
  std::string text = absl::StrFormat(
      "%s %s %s: max abs error %.6g, max rel error %.6g (rtol %g, atol %g)",
      c.name, c.ok() ? "matches" : "differs from", c.file, c.max_abs_error,
      c.max_rel_error, c.rtol, c.atol);
  if (c.ok()) return text;
  absl::StrAppendFormat(
      &text,
      "\n  %d of %d elements differ; the worst is %s: got %.9g, want "
      "%.9g",
      c.mismatches, c.elements, DescribeShape(c.worst_index), c.worst_got,
      c.worst_want);
  return text;
}

Json ToJson(const Comparison& c) {
  Json json;
  json["name"] = c.name;
  json["file"] = c.file;
  json["ok"] = c.ok();
  json["rtol"] = c.rtol;
  json["atol"] = c.atol;
  json["elements"] = c.elements;
  json["mismatches"] = c.mismatches;
  json["max_abs_error"] = c.max_abs_error;
  json["max_rel_error"] = c.max_rel_error;
  json["worst_index"] = c.worst_index;
  json["worst_got"] = c.worst_got;  // null where it is not finite
  json["worst_want"] = c.worst_want;
  return json;
}

}  // namespace trnemu::cli
