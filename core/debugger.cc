#include "core/debugger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trnemu {
namespace {

// Whether elements of the stretch lie among the bytes.
bool Touches(const Effect& effect, const Stretch& s, const Program& program,
             const WatchPlace::Range& r) {
  if (s.tile->space != r.space) return false;
  if (r.space == Space::kHbm) {
    const auto operands =
        program.cores[effect.core].OperandsOf(*effect.instruction);
    if (operands[s.operand].access.tensor != r.tensor) return false;
  } else if (effect.core != r.core ||
             s.tile->first_partition + s.partition != r.partition) {
    return false;
  }
  const auto size = static_cast<int64_t>(SizeOf(s.tile->dtype));
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t at = s.address() + i * s.step;
    if (at < r.end && r.begin < at + size) return true;
  }
  return false;
}

std::vector<std::byte> BytesOf(const WatchPlace& place) {
  std::vector<std::byte> bytes;
  for (const WatchPlace::Range& r : place.ranges) {
    bytes.insert(bytes.end(), r.data, r.data + (r.end - r.begin));
  }
  return bytes;
}

bool AllWritten(const WatchPlace& place) {
  return std::all_of(
      place.ranges.begin(), place.ranges.end(), [](const WatchPlace::Range& r) {
        return !r.shadow.tracked() || r.shadow.AllSet(0, r.end - r.begin);
      });
}

}  // namespace

std::vector<EngineState> EnginesOf(const Runner& runner) {
  std::vector<EngineState> engines;
  for (const Sequencer& s : runner.sequencers()) {
    if (s.begin == s.end) continue;
    EngineState state;
    state.core = s.core;
    state.engine = s.engine;
    if (!s.done()) {
      state.next = s.next;
      for (const Wait& w : runner.program().cores[s.core].WaitsOf(*s.next)) {
        const auto number = static_cast<uint32_t>(w.value);
        if (w.is_register && !s.registers.known(number)) continue;
        const int64_t wanted =
            w.is_register ? s.registers.value(number) : w.value;
        const int64_t value = runner.semaphores().value(w.semaphore);
        if (value >= wanted) continue;
        state.waits.push_back(
            {runner.program().semaphores[w.semaphore].name, value, wanted});
      }
    }
    engines.push_back(std::move(state));
  }
  return engines;
}

std::vector<std::pair<std::string, int64_t>> SemaphoresOf(
    const Runner& runner) {
  std::vector<std::pair<std::string, int64_t>> semaphores;
  const auto& infos = runner.program().semaphores;
  for (uint32_t i = 0; i < infos.size(); ++i) {
    const int64_t value = runner.semaphores().value(i);
    if (value != 0) semaphores.emplace_back(infos[i].name, value);
  }
  return semaphores;
}

std::string DescribeInstruction(const Program& program, size_t core,
                                const Instruction& i) {
  const std::string source = program.DescribeSource(i.source);
  return absl::StrCat("instruction ", i.order, ", ",
                      program.operations[i.operation], " (",
                      std::string(Info(i.opcode).name), ") on the ",
                      std::string(Name(i.engine)), " engine of core ", core,
                      source.empty() ? "" : ", at ", source);
}

absl::StatusOr<std::unique_ptr<Debugger>> Debugger::Start(
    Executable& executable, const Inputs& inputs, const RunOptions& options) {
  std::unique_ptr<Debugger> debugger(new Debugger);
  auto run = executable.Start(inputs, options, debugger.get());
  if (!run.ok()) return run.status();
  debugger->run_ = *std::move(run);
  return debugger;
}

absl::StatusOr<int> Debugger::Break(const std::string& text) {
  auto breakpoint = ParseBreakpoint(text, runner().program());
  if (!breakpoint.ok()) return breakpoint.status();
  breakpoints_.emplace_back(next_id_, *std::move(breakpoint));
  return next_id_++;
}

absl::StatusOr<int> Debugger::Watch(const std::string& text) {
  auto place = ParseWatch(text, runner());
  if (!place.ok()) return place.status();
  watches_.push_back({next_id_, *std::move(place), {}, true});
  return next_id_++;
}

int Debugger::Watch(const TensorPlace& place) {
  watches_.push_back({next_id_, WatchOf(place, runner()), {}, true});
  return next_id_++;
}

bool Debugger::Remove(int id) {
  const size_t breaks = std::erase_if(
      breakpoints_, [id](const auto& b) { return b.first == id; });
  return breaks + std::erase_if(watches_,
                                [id](const Watched& w) { return w.id == id; }) >
         0;
}

bool Debugger::PausesBefore(size_t core, const Instruction& i) {
  if (to_the_end_) return false;
  if (passed_ == &i && passed_core_ == core) {
    passed_ = nullptr;
    return false;
  }
  for (const auto& [id, breakpoint] : breakpoints_) {
    if (!breakpoint.Matches(i)) continue;
    stop_.kind = DebugStop::Kind::kBreak;
    stop_.id = id;
    stop_.instruction = passed_ = &i;
    stop_.core = passed_core_ = core;
    return true;
  }
  return false;
}

absl::Status Debugger::Before(const Effect&) {
  if (to_the_end_) return absl::OkStatus();
  for (Watched& w : watches_) {
    w.before = BytesOf(w.place);
    w.was_written = AllWritten(w.place);
  }
  return absl::OkStatus();
}

absl::Status Debugger::After(const Effect& effect) {
  time_ = std::max(time_, effect.time);
  if (to_the_end_) return absl::OkStatus();
  if (stop_.hits.empty()) {
    stop_.kind = DebugStop::Kind::kStep;
    stop_.instruction = effect.instruction;
    stop_.core = effect.core;
    stop_.effect = effect.kind;
    stop_.part = effect.part;
    stop_.time = effect.time;
  }
  if (steps_left_ > 0 && --steps_left_ == 0) stepped_ = true;
  if (watches_.empty() || effect.kind == Effect::Kind::kTrigger ||
      effect.kind == Effect::Kind::kRead) {
    return absl::OkStatus();
  }
  std::vector<bool> touched(watches_.size(), false);
  ForEachWritten(effect, [&](const Stretch& s) {
    for (size_t w = 0; w < watches_.size(); ++w) {
      for (const WatchPlace::Range& r : watches_[w].place.ranges) {
        if (touched[w]) break;
        touched[w] = Touches(effect, s, runner().program(), r);
      }
    }
  });
  for (size_t w = 0; w < watches_.size(); ++w) {
    if (!touched[w]) continue;
    const Watched& watch = watches_[w];
    stop_.hits.push_back({watch.id, watch.place.text, watch.place.dtype,
                          watch.before, BytesOf(watch.place),
                          watch.was_written});
  }
  return absl::OkStatus();
}

bool Debugger::PausesAfter() {
  return !to_the_end_ && (stepped_ || !stop_.hits.empty());
}

absl::StatusOr<DebugStop> Debugger::GoOn() {
  if (run_->ended() && end_reported_) {
    return MakeFault(Category::kInput, "debug.ended",
                     "the run has ended and cannot go on");
  }
  stop_ = {};
  end_reported_ = run_->ended();
  if (end_reported_) return stop_;
  stepped_ = false;
  absl::Status status = run_->Continue();
  if (!status.ok()) {
    end_reported_ = failed_ = true;
    return status;
  }
  if (!stop_.hits.empty()) {
    stop_.kind = DebugStop::Kind::kWatch;
  } else if (run_->ended()) {
    stop_ = {};
    end_reported_ = true;
  }
  return stop_;
}

absl::StatusOr<DebugStop> Debugger::Step(int64_t n) {
  steps_left_ = n;
  return GoOn();
}

absl::StatusOr<DebugStop> Debugger::Continue() {
  steps_left_ = 0;
  return GoOn();
}

absl::StatusOr<RunResult> Debugger::Result() {
  if (result_taken_ || (run_->ended() && failed_)) {
    return MakeFault(Category::kInput, "debug.ended",
                     failed_ ? "the run has ended in a fault; it has no result"
                             : "the result has been taken");
  }
  to_the_end_ = result_taken_ = end_reported_ = true;
  if (!run_->ended()) {
    absl::Status status = run_->Continue();
    failed_ = !status.ok();
    if (failed_) return status;
  }
  return run_->Finish();
}

}  // namespace trnemu
