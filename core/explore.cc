#include "core/explore.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/value_text.h"

namespace trnemu {
namespace {

constexpr char kReplay[] = "replay";

std::string Both(Dtype dtype, const std::byte* at) {
  const std::string value = ValueText(dtype, at, 9);
  if (IsPacked(dtype) || IsInteger(dtype)) return value;
  return absl::StrCat(value, " (", BitsText(dtype, at), ")");
}

struct Difference {
  std::string output;
  size_t element = 0;  // the first one's
  size_t elements = 0;
};

std::optional<Difference> FirstDifference(const RunResult& a,
                                          const RunResult& b) {
  for (const auto& [name, array] : a.outputs) {
    const auto& other = b.outputs.at(name).bytes;
    const size_t size = SizeOf(array.dtype);
    Difference d{name, 0, 0};
    for (size_t at = 0; at < array.bytes.size(); at += size) {
      const auto from = static_cast<ptrdiff_t>(at);
      if (std::equal(array.bytes.begin() + from,
                     array.bytes.begin() + from + static_cast<ptrdiff_t>(size),
                     other.begin() + from)) {
        continue;
      }
      if (d.elements++ == 0) d.element = at / size;
    }
    if (d.elements > 0) return d;
  }
  return std::nullopt;
}

std::string IndexText(size_t element, const std::vector<int64_t>& shape) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    const auto count = static_cast<size_t>(shape[d]);
    text = absl::StrCat(element % count, text.empty() ? "" : ", ", text);
    element /= count;
  }
  return absl::StrCat("[", text, "]");
}

absl::Status Differ(const RunResult& reference, const RunResult& other,
                    const Difference& difference, int64_t seed,
                    const std::string& replay) {
  const HostArray& a = reference.outputs.at(difference.output);
  const size_t at = difference.element * SizeOf(a.dtype);
  const std::string where =
      absl::StrCat(difference.output, IndexText(difference.element, a.shape));
  const std::string first = Both(a.dtype, a.bytes.data() + at);
  const std::string second =
      Both(a.dtype, other.outputs.at(difference.output).bytes.data() + at);
  const std::string order =
      reference.timed ? "in the timed order" : "in program order";
  Diagnostic d;
  d.category = Category::kRace;
  d.id = "schedule.outputs_differ";
  d.operand = difference.output;
  d.message = absl::StrCat(
      "two legal schedules give different outputs: ", where, " is ", first, " ",
      order, " and ", second, " with schedule ", seed);
  d.details = {
      {"output", difference.output},
      {"index", IndexText(difference.element, a.shape)},
      {"value_in_reference", first},
      {"value_with_seed", second},
      {"elements_that_differ", absl::StrCat(difference.elements, " of ",
                                            a.bytes.size() / SizeOf(a.dtype))},
      {"schedule", absl::StrCat(seed)},
      {kReplay, replay}};
  d.remedy =
      "something is read or overwritten without a wait; compare the logs of "
      "both orders (trnemu diff) to see where it begins";
  return ToStatus(std::move(d));
}

}  // namespace

absl::StatusOr<RunResult> Explore(Executable& executable, const Inputs& inputs,
                                  const RunOptions& given, int64_t schedules,
                                  const std::string& replay,
                                  const ExploreProgress& progress) {
  if (schedules < 1 || !given.values || given.checks == Checks::kOff) {
    return MakeFault(
        Category::kInput, "option.explore",
        schedules < 1
            ? absl::StrCat("explore runs at least 1 schedule, not ", schedules)
            : "explore needs values on, and checks full or memory");
  }
  RunOptions options = given;
  options.order = options.time ? Order::kTimed : Order::kProgram;
  progress(0);
  absl::StatusOr<RunResult> reference = executable.Run(inputs, options);
  if (!reference.ok()) return reference;
  options.order = Order::kRandom;
  options.max_time_ns.reset();  // a bound of simulated time
  for (int64_t seed = 1; seed <= schedules; ++seed) {
    options.schedule_seed = static_cast<uint64_t>(seed);
    progress(seed);
    const auto result = executable.Run(inputs, options);
    const std::string again =
        absl::StrReplaceAll(replay, {{"SEED", absl::StrCat(seed)}});
    if (!result.ok()) {
      Diagnostic d = DiagnosticOf(result.status());
      d.details.emplace_back("schedule", absl::StrCat(seed));
      d.details.emplace_back(kReplay, again);
      return ToStatus(std::move(d));
    }
    const auto difference = FirstDifference(*reference, *result);
    if (difference) {
      return Differ(*reference, *result, *difference, seed, again);
    }
  }
  return reference;
}

}  // namespace trnemu
