#include "core/engines/activation_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/rows.h"
#include "core/numerics/activation.h"

namespace trnemu {
namespace {

void WarnAt(const Tile& data, int64_t partition, int64_t element, float value,
            Diagnostic d, CoreState& state) {
  const int64_t where = data.first_partition + partition;
  d.category = Category::kUnspecified;
  d.operand = "data";
  d.details.insert(d.details.begin(), {{"partition", absl::StrCat(where)},
                                       {"element", absl::StrCat(element)},
                                       {"value", absl::StrCat(value)}});
  Warn(state, std::move(d));
}

void WarnOutsideRange(ActFunction f, const Tile& data, int64_t partition,
                      int64_t element, float value, CoreState& state) {
  const ActInfo& info = Info(f);
  const std::string name(info.name);
  const std::string range = absl::StrCat(info.magnitude ? "+-[" : "[", info.low,
                                         ", ", info.high, "]");
  Diagnostic d;
  d.id = "activation.outside_valid_range";
  d.message = absl::StrCat(name, " has the input ", value, " at partition ",
                           data.first_partition + partition, ", element ",
                           element, ", outside its valid range ", range,
                           ", where the result is unspecified");
  d.details = {{"function", name}, {"range", range}};
  d.remedy = f == ActFunction::kSin
                 ? "reduce the argument to [-pi, pi] before the activation"
                 : "keep data * scale + bias inside the range";
  d.reference = "nki/api/nki.api.shared.rst:143";
  WarnAt(data, partition, element, value, std::move(d), state);
}

void WarnPreluSlope(const Tile& data, int64_t partition, int64_t element,
                    float value, CoreState& state) {
  Diagnostic d;
  d.id = "activation.prelu_slope";
  d.message =
      absl::StrCat("prelu has the negative input ", value, " at partition ",
                   data.first_partition + partition, ", element ", element,
                   ", but activation has no slope; it was taken as 0");
  d.remedy = "use activate2, which has relu_param, or relu";
  d.reference = "nki/api/nki/language/__init__.py:83";
  WarnAt(data, partition, element, value, std::move(d), state);
}

}  // namespace

bool HasLimitedRange(ActFunction f) {
  return Info(f).low > -kInfinity || Info(f).high < kInfinity ||
         Info(f).magnitude;
}

bool ReportOutsideRange(ActFunction f, const Tile& data, int64_t partition,
                        const float* x, CoreState& state) {
  const size_t n = static_cast<size_t>(data.free_size);
  const size_t first = FirstOutsideValidRange(f, x, n);
  if (first == n) return false;
  WarnOutsideRange(f, data, partition, static_cast<int64_t>(first), x[first],
                   state);
  return true;
}

bool ReportNoPreluSlope(const Tile& data, int64_t partition, const float* x,
                        CoreState& state) {
  const float* const end = x + data.free_size;
  const float* const found =
      std::find_if(x, end, [](float value) { return value < 0; });
  if (found == end) return false;
  WarnPreluSlope(data, partition, found - x, *found, state);
  return true;
}

}  // namespace trnemu
