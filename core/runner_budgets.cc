// What stops a run that goes on too long: docs/limits.md.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/runner.h"

namespace trnemu {
namespace {

constexpr int64_t kInterruptInterval = 4096;
constexpr int64_t kClockInterval = 64;

double SecondsSince(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then)
      .count();
}

}  // namespace

// A program without branches executes each of its instructions once, so only
// one that branches can go on for ever.
void Runner::SetInstructionLimit() {
  const bool branches =
      std::any_of(sequencers_.begin(), sequencers_.end(),
                  [](const Sequencer& s) { return s.loops != nullptr; });
  max_instructions_ = options_.max_instructions.value_or(
      branches ? kDefaultMaxInstructions : program_.num_instructions());
}

absl::Status Runner::OverInstructions() const {
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "limit.instructions";
  const bool given = options_.max_instructions.has_value();
  d.message = absl::StrCat(
      "the program wants to execute more than ", max_instructions_,
      " instructions, ",
      given ? "the limit given" : "the default limit of programs with loops");
  d.details = {{"limit", absl::StrCat(max_instructions_)}};
  for (const Sequencer& s : sequencers_) {
    if (s.done() || s.loops == nullptr) continue;
    std::string line =
        absl::StrCat("the ", std::string(Name(s.engine)), " engine of core ",
                     s.core, " is at instruction ", s.next->order, " (",
                     program_.operations[s.next->operation], ")");
    const std::string source = program_.DescribeSource(s.next->source);
    if (!source.empty()) absl::StrAppend(&line, ", at ", source);
    d.related.push_back(std::move(line));
  }
  d.remedy =
      "if a loop does not end, let its body change what its condition reads; "
      "if the program is that long, raise the limit with --max-instructions N "
      "(max_instructions=N)";
  return ToStatus(std::move(d));
}

// Of what is known to complete; asked once more at the end.
absl::Status Runner::CheckTime() const {
  if (std::max({now_, profile_.end, foreseen_}) >= kLongestTime)
    return TooLong();
  if (!options_.max_time_ns ||
      static_cast<double>(std::max(now_, profile_.end)) <=
          *options_.max_time_ns * kTicksPerNs) {
    return absl::OkStatus();
  }
  return MakeFault(
      Category::kLimit, "limit.simulated_time",
      absl::StrCat("the program runs longer than ", *options_.max_time_ns,
                   " ns of simulated time, the limit given"));
}

absl::Status Runner::TooLong() const {
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "limit.simulated_time";
  d.message =
      "the program runs longer than 4611 s of simulated time, or one "
      "instruction or transfer of it than 288 s: the most that is counted in "
      "femtoseconds";
  d.remedy =
      "with --hardware FILE (hardware=), look for a constant that is far from "
      "the built-in one; else simulate fewer iterations, as all are alike in "
      "time";
  return ToStatus(std::move(d));
}

absl::Status Runner::CheckHost() const {
  if (options_.max_wall_seconds &&
      SecondsSince(started_) > *options_.max_wall_seconds) {
    return MakeFault(
        Category::kLimit, "limit.wall_time",
        absl::StrCat("the run takes longer than ", *options_.max_wall_seconds,
                     " s on this host, the limit given; ",
                     profile_.instructions, " instructions were executed"));
  }
  if (options_.interrupted && options_.interrupted()) {
    return MakeFault(Category::kLimit, "limit.interrupted",
                     "the run was interrupted");
  }
  return absl::OkStatus();
}

absl::Status Runner::CheckBudgets() {
  if (held_ && profile_.instructions > held_until_) return *held_;
  if (profile_.instructions >= max_instructions_) return OverInstructions();
  if (absl::Status time = CheckTime(); !time.ok()) return time;
  const bool late = options_.max_wall_seconds &&
                    profile_.instructions % kClockInterval == 0 &&
                    SecondsSince(started_) > *options_.max_wall_seconds;
  if (late || profile_.instructions % kInterruptInterval == 0) {
    if (absl::Status host = CheckHost(); !host.ok()) return host;
  }
  return strict_;
}

}  // namespace trnemu
