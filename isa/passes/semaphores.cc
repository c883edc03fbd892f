#include "isa/passes/semaphores.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

// As many DMAs at most are told apart at a time, if all are waited for.
constexpr size_t kMaxDmaSemaphores = 64;

class Assigner {
 public:
  Assigner(const Dependences& dependences, const Level& level, uint32_t core,
           const Hardware& hardware, Draft& draft, SyncPlan& plan);
  absl::Status Run();

 private:
  // The semaphore of an event and its value once the event is complete;
  // value 0 for events that nobody waits for.
  struct Mark {
    uint32_t semaphore = 0;
    int64_t value = 0;
  };
  // A semaphore of an engine or of DMAs.
  struct Counter {
    uint32_t semaphore = 0;
    int64_t total = 0;       // the value once all signals so far have come
    Event last;              // whose signal came last
    size_t instruction = 0;  // and the instruction's index
  };

  void MarkAwaited();
  void CountSemaphores();
  absl::Status Assign(size_t index);
  absl::Status SignalEngine(size_t index, Event event);
  absl::Status SignalDma(size_t index, Event event);
  absl::StatusOr<Counter*> DmaCounter(Event event, int64_t parts);
  bool KnowsComplete(Event trigger, const Counter& counter) const;
  absl::StatusOr<uint32_t> NewSemaphore(std::string name);
  absl::Status Limit(std::string message) const;
  Mark& MarkOf(Event e) { return marks_[e.lane][e.sequence - 1]; }

  const Dependences& dependences_;
  const uint32_t core_;
  const int64_t max_value_;
  const int64_t max_semaphores_;
  const Level& level_;
  Draft& draft_;
  SyncPlan& plan_;
  std::vector<std::vector<Mark>> marks_;  // by lane and sequence
  std::array<std::optional<Counter>, kFirstDmaLane> engines_;
  std::array<int, kFirstDmaLane> engine_counters_{};  // made so far
  std::vector<Counter> dmas_;  // those that still have room
  int dma_counters_ = 0;       // made so far
  int64_t used_ = 0;           // semaphores of the core
  int64_t reserved_ = 0;       // for engines that have none yet
  // What engines know beyond the clocks, by waits for a DMA semaphore.
  std::array<std::vector<uint32_t>, kFirstDmaLane> learned_;
};

Assigner::Assigner(const Dependences& dependences, const Level& level,
                   uint32_t core, const Hardware& hardware, Draft& draft,
                   SyncPlan& plan)
    : dependences_(dependences),
      core_(core),
      max_value_(hardware.sequencer.semaphore_max),
      max_semaphores_(hardware.sequencer.semaphores),
      level_(level),
      draft_(draft),
      plan_(plan),
      marks_(dependences.lanes.info.size()) {
  for (auto& learned : learned_) learned.resize(dependences.lanes.info.size());
}

// Gives each awaited event the value 1, for now.
void Assigner::MarkAwaited() {
  std::vector<size_t> lengths(marks_.size());
  for (Event event : dependences_.lanes.events) {
    lengths[event.lane] = event.sequence;
  }
  for (size_t lane = 0; lane < marks_.size(); ++lane) {
    marks_[lane].resize(lengths[lane]);
  }
  for (Event event : dependences_.waits) MarkOf(event).value = 1;
}

// Those in use, and those that the engines' counters will need.
void Assigner::CountSemaphores() {
  for (const SemaphoreInfo& info : draft_.program.semaphores) {
    if (info.core == core_) ++used_;
  }
  for (uint32_t lane = 0; lane < kFirstDmaLane; ++lane) {
    int64_t awaited = 0;
    for (const Mark& mark : marks_[lane]) awaited += mark.value;
    if (awaited > 0) reserved_ += (awaited - 1) / max_value_ + 1;
  }
}

absl::Status Assigner::Run() {
  MarkAwaited();
  CountSemaphores();
  for (size_t i = 0; i < level_.items.size(); ++i) {
    absl::Status status = Assign(i);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Assigner::Assign(size_t index) {
  const uint32_t instruction = level_.items[index].instruction;
  for (Event event : dependences_.WaitsOf(index)) {
    const Mark& mark = MarkOf(event);
    plan_.waits.push_back(
        {instruction, {mark.semaphore, mark.value, false, false}});
  }
  const Event event = dependences_.lanes.events[index];
  if (MarkOf(event).value == 0) return absl::OkStatus();
  return event.lane < kFirstDmaLane ? SignalEngine(index, event)
                                    : SignalDma(index, event);
}

absl::Status Assigner::SignalEngine(size_t index, Event event) {
  std::optional<Counter>& counter = engines_[event.lane];
  if (!counter || counter->total >= max_value_) {
    --reserved_;
    std::string name(kEngineNames[event.lane]);
    const int number = engine_counters_[event.lane]++;
    if (number > 0) absl::StrAppend(&name, number);
    absl::StatusOr<uint32_t> semaphore = NewSemaphore(std::move(name));
    if (!semaphore.ok()) return semaphore.status();
    counter = Counter{*semaphore, 0, {}, 0};
  }
  MarkOf(event) = {counter->semaphore, ++counter->total};
  plan_.signals.push_back(
      {level_.items[index].instruction, {counter->semaphore}});
  return absl::OkStatus();
}

absl::Status Assigner::SignalDma(size_t index, Event event) {
  const LaneInfo& lane = dependences_.lanes.info[event.lane];
  absl::StatusOr<Counter*> found = DmaCounter(event, lane.queues);
  if (!found.ok()) return found.status();
  Counter& counter = **found;
  if (!KnowsComplete(event, counter)) {
    plan_.waits.push_back({level_.items[index].instruction,
                           {counter.semaphore, counter.total, false, false}});
    uint32_t& learned =
        learned_[static_cast<size_t>(lane.engine)][counter.last.lane];
    learned = std::max(learned, counter.last.sequence);
  }
  counter.total += lane.queues;
  counter.last = event;
  counter.instruction = index;
  MarkOf(event) = {counter.semaphore, counter.total};
  plan_.signals.push_back(
      {level_.items[index].instruction, {counter.semaphore}});
  return absl::OkStatus();
}

// The semaphore that the DMA `event` of `parts` signals will use: one that is
// free, a new one, or the one whose DMA was triggered first.
absl::StatusOr<Assigner::Counter*> Assigner::DmaCounter(Event event,
                                                        int64_t parts) {
  std::erase_if(dmas_, [&](const Counter& counter) {
    return counter.total > max_value_ - parts;
  });
  for (Counter& counter : dmas_) {
    if (KnowsComplete(event, counter)) return &counter;
  }
  const bool room =
      dmas_.size() < kMaxDmaSemaphores && used_ + reserved_ < max_semaphores_;
  if (!room && !dmas_.empty()) {
    // An exchange may need what this core does next: the last to wait for.
    const auto age = [this](const Counter& counter) {
      const auto& instructions = draft_.instructions[core_];
      return std::pair(
          instructions[counter.instruction].opcode == Opcode::kSendRecv,
          counter.instruction);
    };
    return &*std::min_element(
        dmas_.begin(), dmas_.end(),
        [&](const Counter& a, const Counter& b) { return age(a) < age(b); });
  }
  if (parts > max_value_) {
    return Limit(absl::StrCat("a DMA of ", parts,
                              " parts cannot be counted by a semaphore of at "
                              "most ",
                              max_value_));
  }
  auto semaphore = NewSemaphore(absl::StrCat("dma", dma_counters_++));
  if (!semaphore.ok()) return semaphore.status();
  return &dmas_.emplace_back(Counter{*semaphore, 0, {}, 0});
}

bool Assigner::KnowsComplete(Event trigger, const Counter& counter) const {
  if (counter.total == 0) return true;
  if (dependences_.clocks.KnewAt(trigger, counter.last)) return true;
  const Engine engine = dependences_.lanes.info[trigger.lane].engine;
  return learned_[static_cast<size_t>(engine)][counter.last.lane] >=
         counter.last.sequence;
}

absl::StatusOr<uint32_t> Assigner::NewSemaphore(std::string name) {
  if (used_ + reserved_ >= max_semaphores_) {
    return Limit(absl::StrCat("the core has ", max_semaphores_,
                              " semaphores, all in use"));
  }
  ++used_;
  const std::string prefix =
      core_ == 0 ? "auto." : absl::StrCat("auto.core", core_, ".");
  draft_.program.semaphores.push_back({core_, prefix + name});
  return static_cast<uint32_t>(draft_.program.semaphores.size() - 1);
}

absl::Status Assigner::Limit(std::string message) const {
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "synchronise.semaphores";
  d.message = absl::StrCat("data dependences cannot be expressed: ", message);
  d.core = static_cast<int>(core_);
  d.details = {{"semaphores in use", absl::StrCat(used_)},
               {"reserved for engines", absl::StrCat(reserved_)},
               {"limit", absl::StrCat(max_semaphores_)},
               {"largest value", absl::StrCat(max_value_)}};
  d.remedy = "use fewer semaphores of your own, or a shorter program";
  return ToStatus(std::move(d));
}

}  // namespace

absl::Status AssignSemaphores(const Dependences& dependences,
                              const Level& level, uint32_t core,
                              const Hardware& hardware, Draft& draft,
                              SyncPlan& plan) {
  return Assigner(dependences, level, core, hardware, draft, plan).Run();
}

}  // namespace trnemu
