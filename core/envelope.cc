#include "core/envelope.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/options.h"

namespace trnemu {
namespace {

// Keys of the rounding class: which value is right no document says, and each
// is an arithmetic that a device may well have. The other keys are of the
// behaviour class (docs/unspecified.md).
constexpr std::array<std::string_view, 7> kRoundingKeys = {
    "matmul", "tf32",    "scale_bias", "subnormals",
    "reduce", "two_ops", "table_error"};
constexpr size_t kTableDraws = 3;

std::span<const std::string_view> ValuesOf(std::string_view key) {
  for (const NumericsKey& k : NumericsKeys()) {
    if (k.name == key) return k.values;
  }
  return {};
}

// splitmix64, so that a seed means the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t n) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % n;
  }

 private:
  uint64_t state_;
};

EnvelopeChoices RandomChoices(const NumericsOptions& base, Random& random) {
  EnvelopeChoices choices;
  for (std::string_view key : kRoundingKeys) {
    const auto values = ValuesOf(key);
    const std::string_view value = values[random.Below(values.size())];
    if (value == NumericsOptionValue(base, key)) continue;
    choices.emplace_back(key, value);
  }
  return choices;
}

// An output as numbers, and as codes whose distance counts steps of the dtype.
struct Numbers {
  std::vector<double> values;
  std::vector<int64_t> steps;
};

// Sign and magnitude to a number that counts: -0 is 0.
int64_t StepOf(uint32_t code, unsigned bits) {
  const uint32_t sign = 1u << (bits - 1);
  const auto magnitude = static_cast<int64_t>(code & (sign - 1));
  return code & sign ? -magnitude : magnitude;
}

bool HasSteps(Dtype d) { return !IsInteger(d) && !IsPacked(d); }

Numbers NumbersOf(const HostArray& array) {
  const size_t size = SizeOf(array.dtype);
  const size_t n = array.bytes.size() / size;
  Numbers out;
  std::vector<uint32_t> codes(n);
  LoadBits(array.dtype, array.bytes.data(), static_cast<ptrdiff_t>(size), n,
           codes.data());
  out.steps.resize(n);
  out.values.resize(n);
  std::vector<float> wide(n);
  const bool floats = HasSteps(array.dtype);
  if (floats) {
    WidenRow(array.dtype, array.bytes.data(), static_cast<ptrdiff_t>(size), n,
             {}, wide.data());
  }
  for (size_t i = 0; i < n; ++i) {
    if (floats) {
      out.values[i] = static_cast<double>(wide[i]);
      out.steps[i] = StepOf(codes[i], static_cast<unsigned>(8 * size));
      continue;
    }
    int64_t value = codes[i];
    if (array.dtype == Dtype::kInt8) value = static_cast<int8_t>(codes[i]);
    if (array.dtype == Dtype::kInt16) value = static_cast<int16_t>(codes[i]);
    if (array.dtype == Dtype::kInt32) value = static_cast<int32_t>(codes[i]);
    out.steps[i] = value;
    out.values[i] = static_cast<double>(value);
  }
  return out;
}

EnvelopeDistance Distance(const HostArray& base_array, const Numbers& base,
                          const HostArray& array) {
  EnvelopeDistance d;
  if (array.bytes == base_array.bytes) return d;
  const Numbers other = NumbersOf(array);
  const size_t size = SizeOf(array.dtype);
  for (size_t i = 0; i < base.values.size(); ++i) {
    if (std::memcmp(&base_array.bytes[i * size], &array.bytes[i * size],
                    size) == 0) {
      continue;
    }
    ++d.different;
    const double a = base.values[i], b = other.values[i];
    double distance = std::fabs(a - b);
    if (std::isfinite(a) != std::isfinite(b)) {
      ++d.not_finite;
      distance = std::numeric_limits<double>::infinity();
    } else if (!std::isfinite(a)) {
      distance = a == b || (std::isnan(a) && std::isnan(b))
                     ? 0
                     : std::numeric_limits<double>::infinity();
    } else {
      d.max_ulp = std::max(
          d.max_ulp,
          static_cast<double>(std::abs(base.steps[i] - other.steps[i])));
    }
    if (distance > d.max_abs) {
      d.max_abs = distance;
      d.element = static_cast<int64_t>(i);
      d.base = a;
      d.other = b;
    }
  }
  return d;
}

double Rms(const Numbers& numbers) {
  double sum = 0;
  size_t n = 0;
  for (double v : numbers.values) {
    if (!std::isfinite(v)) continue;
    sum += v * v;
    ++n;
  }
  return n == 0 ? 0 : std::sqrt(sum / static_cast<double>(n));
}

// The farthest run of each output, and what each key does alone.
void Summarise(EnvelopeResult& result) {
  for (size_t o = 0; o < result.outputs.size(); ++o) {
    EnvelopeOutput& output = result.outputs[o];
    for (size_t r = 0; r < result.runs.size(); ++r) {
      const EnvelopeRun& run = result.runs[r];
      const EnvelopeDistance& d = run.outputs[o];
      const double ulp = std::max(output.spread.max_ulp, d.max_ulp);
      const int64_t different = std::max(output.spread.different, d.different);
      const int64_t not_finite =
          std::max(output.spread.not_finite, d.not_finite);
      if (d.max_abs > output.spread.max_abs) {
        output.spread = d;
        output.run = static_cast<int64_t>(r);
      }
      output.spread.max_ulp = ulp;
      output.spread.different = different;
      output.spread.not_finite = not_finite;
      if (!run.single || d.max_abs == 0) continue;
      const std::string& key = run.choices[0].first;
      auto it = std::find_if(output.causes.begin(), output.causes.end(),
                             [&](const auto& c) { return c.first == key; });
      if (it == output.causes.end()) {
        output.causes.emplace_back(key, d.max_abs);
      } else {
        it->second = std::max(it->second, d.max_abs);
      }
    }
    std::stable_sort(
        output.causes.begin(), output.causes.end(),
        [](const auto& a, const auto& b) { return a.second > b.second; });
  }
}

}  // namespace

std::vector<EnvelopeChoices> SingleChoices(const NumericsOptions& base) {
  std::vector<EnvelopeChoices> choices;
  for (std::string_view key : kRoundingKeys) {
    size_t taken = 0;
    for (std::string_view value : ValuesOf(key)) {
      if (value == NumericsOptionValue(base, key)) continue;
      if (key == "table_error" && ++taken > kTableDraws) break;
      choices.push_back({{std::string(key), std::string(value)}});
    }
  }
  return choices;
}

absl::StatusOr<EnvelopeResult> RunEnvelope(
    const std::function<absl::StatusOr<RunResult>(const RunOptions&)>& run,
    const RunOptions& options, int64_t combinations, uint64_t seed) {
  EnvelopeResult result;
  absl::StatusOr<RunResult> base = run(options);
  if (!base.ok()) return base.status();
  result.base = *std::move(base);
  std::vector<Numbers> numbers;
  for (const auto& [name, array] : result.base.outputs) {
    numbers.push_back(NumbersOf(array));
    EnvelopeOutput output;
    output.name = name;
    output.dtype = array.dtype;
    output.shape = array.shape;
    output.rms = Rms(numbers.back());
    result.outputs.push_back(std::move(output));
  }
  std::vector<EnvelopeChoices> plans = SingleChoices(options.numerics);
  const size_t singles = plans.size();
  Random random(seed);
  for (int64_t i = 0; i < combinations; ++i) {
    plans.push_back(RandomChoices(options.numerics, random));
  }
  for (size_t p = 0; p < plans.size(); ++p) {
    RunOptions changed = options;
    changed.log = nullptr;
    for (const auto& [key, value] : plans[p]) {
      SetNumericsOption(changed.numerics, key, value);
    }
    absl::StatusOr<RunResult> other = run(changed);
    if (!other.ok()) return other.status();
    EnvelopeRun entry;
    entry.choices = plans[p];
    entry.single = p < singles;
    size_t o = 0;
    for (const auto& [name, array] : result.base.outputs) {
      entry.outputs.push_back(
          Distance(array, numbers[o++], other->outputs.at(name)));
    }
    result.runs.push_back(std::move(entry));
  }
  Summarise(result);
  return result;
}

}  // namespace trnemu
