// Races, as far as the scheduler is concerned: it records what happens, and at
// the end says what went wrong first.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/runner.h"

namespace trnemu {
namespace {

// Events that are kept before they are looked at: 8 MB of them.
constexpr size_t kMaxTrace = size_t{1} << 20;
// Instructions that a run goes on for after a read of unwritten memory.
constexpr int64_t kHeldFor = 1 << 16;
constexpr size_t kMaxListed = 8;

// Whether a fault of this category can come of values that a race made, or be
// what a race looks like.
bool MayComeOfRace(Category category) {
  return category == Category::kUninitialized ||
         category == Category::kOutOfBounds ||
         category == Category::kUnspecified || category == Category::kIllegal;
}

std::string Times(const Diagnostic& d) {
  return d.count > 1 ? absl::StrCat(" (", d.count, " times)") : "";
}

}  // namespace

void Runner::TraceStep(const Sequencer& s) {
  if (trace_.events.size() >= kMaxTrace)
    races_->Consume(trace_, false, nullptr);
  trace_.events.push_back({static_cast<uint32_t>(s.next - s.begin),
                           static_cast<uint16_t>(&s - sequencers_.data()),
                           TraceEvent::Kind::kStep});
  ++traced_steps_;
}

bool Runner::Hold(const absl::Status& fault) {
  // Who looks on wants to see the first fault where it is.
  if (fault.ok() || held_ || races_ == nullptr || Observed()) return false;
  if (DiagnosticOf(fault).category != Category::kUninitialized) return false;
  held_ = fault;
  held_until_ = profile_.instructions + kHeldFor;
  for (CoreState* state : states_) state->check_memory = false;
  return true;
}

// What went wrong first: a race, if there is one that the fault may come of.
absl::Status Runner::Conclude(absl::Status status) {
  if (races_ == nullptr) return status;
  const bool deadlock = !held_ && !status.ok() &&
                        DiagnosticOf(status).category == Category::kDeadlock;
  if (!status.ok() && !deadlock && !held_ &&
      !MayComeOfRace(DiagnosticOf(status).category)) {
    return status;
  }
  if (held_) status = *held_;
  absl::Status host;
  const auto stop = [&] {
    host = CheckHost();
    return !host.ok();
  };
  if (!races_->Consume(trace_, true, stop)) return host;
  std::vector<Diagnostic> errors;
  current_ = nullptr;
  for (const Diagnostic& d : races_->findings()) {
    const auto& allow = options_.allow;
    const bool allowed =
        std::find(allow.begin(), allow.end(), d.id) != allow.end();
    if (allowed || (d.severity == Severity::kWarning && !options_.strict)) {
      findings_.push_back(d);
    } else {
      errors.push_back(d);
      errors.back().severity = Severity::kError;
    }
  }
  if (errors.empty()) return status;
  Diagnostic root = deadlock ? DiagnosticOf(status) : errors.front();
  for (size_t i = deadlock ? 0 : 1; i < errors.size(); ++i) {
    if (i > kMaxListed) {
      root.related.push_back(
          absl::StrCat("and ", errors.size() - i, " more findings"));
      break;
    }
    root.related.push_back(absl::StrCat("also ", errors[i].id, ": ",
                                        errors[i].message, Times(errors[i])));
  }
  if (!deadlock && !status.ok()) {
    const Diagnostic fault = DiagnosticOf(status);
    root.related.push_back(
        absl::StrCat("what the run came upon: ", fault.id, " at instruction ",
                     fault.instruction.value_or(-1), ": ", fault.message));
  }
  return ToStatus(std::move(root));
}

}  // namespace trnemu
