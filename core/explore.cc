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

constexpr char kDiffer[] = "schedule.outputs_differ";
constexpr char kReplay[] = "replay";

std::string Both(Dtype dtype, const std::byte* at) {
  std::string value = ValueText(dtype, at, 9);
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

const char* OrderText(const RunResult& reference) {
  return reference.timed ? "in the timed order" : "in program order";
}

Diagnostic Differ(const RunResult& reference, const RunResult& other,
                  const Difference& difference, int64_t seed) {
  const HostArray& a = reference.outputs.at(difference.output);
  const size_t at = difference.element * SizeOf(a.dtype);
  const std::string where =
      absl::StrCat(difference.output, IndexText(difference.element, a.shape));
  const std::string first = Both(a.dtype, a.bytes.data() + at);
  const std::string second =
      Both(a.dtype, other.outputs.at(difference.output).bytes.data() + at);
  Diagnostic d;
  d.category = Category::kRace;
  d.id = kDiffer;
  d.operand = difference.output;
  d.message = absl::StrCat(
      "two legal schedules give different outputs: ", where, " is ", first, " ",
      OrderText(reference), " and ", second, " with schedule ", seed);
  d.details = {
      {"output", difference.output},
      {"index", IndexText(difference.element, a.shape)},
      {"value_in_reference", first},
      {"value_with_seed", second},
      {"elements_that_differ", absl::StrCat(difference.elements, " of ",
                                            a.bytes.size() / SizeOf(a.dtype))}};
  d.remedy =
      "something is read or overwritten without a wait; compare the logs of "
      "both orders (trnemu diff) to see where it begins";
  return d;
}

std::string InstructionText(const Diagnostic& d) {
  std::string text;
  if (d.instruction) absl::StrAppend(&text, " at instruction ", *d.instruction);
  if (!d.source.empty()) absl::StrAppend(&text, ", ", d.source);
  return text;
}

// The program in its own order, with the checks that were asked for. A race is
// a fault there, but no reason not to explore: `result` is then of a run that
// looks at memory alone, and `fault` what the first run said.
struct Reference {
  RunResult result;
  std::optional<Diagnostic> fault;
};

absl::StatusOr<Reference> RunReference(Executable& executable,
                                       const Inputs& inputs,
                                       RunOptions options) {
  auto result = executable.Run(inputs, options);
  if (result.ok()) return Reference{*std::move(result), std::nullopt};
  Diagnostic fault = DiagnosticOf(result.status());
  if (options.checks != Checks::kFull || fault.category == Category::kLimit) {
    return result.status();
  }
  options.checks = Checks::kMemory;
  const absl::Status first = result.status();
  result = executable.Run(inputs, options);
  if (result.ok()) return Reference{*std::move(result), std::move(fault)};
  // That of full checks has the cause, unless the user ended this run.
  return DiagnosticOf(result.status()).category == Category::kLimit
             ? result.status()
             : first;
}

// What all checks say of the reference, for those who see what a race does.
void Explain(const Reference& reference, Diagnostic& d) {
  if (!reference.fault) return;
  const Diagnostic& fault = *reference.fault;
  d.related.push_back(absl::StrCat(
      "a run ", OrderText(reference.result), " with all checks reports ",
      fault.id, InstructionText(fault), ": ", fault.message));
  d.related.insert(d.related.end(), fault.related.begin(), fault.related.end());
  if (d.id == kDiffer && !fault.remedy.empty()) d.remedy = fault.remedy;
}

// No schedule has shown it.
absl::Status Unseen(const Reference& reference, int64_t schedules) {
  Diagnostic d = *reference.fault;
  d.related.push_back(absl::StrCat(
      schedules, schedules == 1 ? " schedule agrees" : " schedules agree",
      " with the run ", OrderText(reference.result),
      " in every bit: it is found by what orders the two, not by what "
      "they did"));
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
  absl::StatusOr<Reference> reference =
      RunReference(executable, inputs, options);
  if (!reference.ok()) return reference.status();
  // Races are found in the reference, once; here a run has to go on to its end.
  options.checks = Checks::kMemory;
  options.order = Order::kRandom;
  options.max_time_ns.reset();  // a bound of simulated time
  for (int64_t seed = 1; seed <= schedules; ++seed) {
    options.schedule_seed = static_cast<uint64_t>(seed);
    progress(seed);
    const auto result = executable.Run(inputs, options);
    std::optional<Diagnostic> d;
    if (!result.ok()) {
      d = DiagnosticOf(result.status());
    } else if (const auto difference =
                   FirstDifference(reference->result, *result)) {
      d = Differ(reference->result, *result, *difference, seed);
    }
    if (!d) continue;
    const std::string number = absl::StrCat(seed);
    d->details.emplace_back("schedule", number);
    d->details.emplace_back(kReplay,
                            absl::StrReplaceAll(replay, {{"SEED", number}}));
    Explain(*reference, *d);
    return ToStatus(*std::move(d));
  }
  if (reference->fault) return Unseen(*reference, schedules);
  return std::move(reference->result);
}

}  // namespace trnemu
