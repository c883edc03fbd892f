#include "isa/passes/sync_plan.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

template <typename T>
void Sort(std::vector<std::pair<uint32_t, T>>& added) {
  auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(added.begin(), added.end(), earlier)) {
    std::stable_sort(added.begin(), added.end(), earlier);
  }
}

// Appends the instruction's own and what was added; how many that is.
template <typename T>
size_t Take(std::span<const T> own, uint32_t index,
            const std::vector<std::pair<uint32_t, T>>& added, size_t& next,
            std::vector<T>& pool) {
  const size_t before = pool.size();
  pool.insert(pool.end(), own.begin(), own.end());
  for (; next < added.size() && added[next].first == index; ++next) {
    pool.push_back(added[next].second);
  }
  return pool.size() - before;
}

}  // namespace

absl::Status ApplyPlan(SyncPlan plan, uint32_t core, Draft& draft) {
  Sort(plan.waits);
  Sort(plan.signals);
  CoreProgram& pools = draft.program.cores[core];
  std::vector<Wait> waits;
  std::vector<Signal> signals;
  waits.reserve(pools.waits.size() + plan.waits.size());
  signals.reserve(pools.signals.size() + plan.signals.size());
  size_t next_wait = 0, next_signal = 0;
  std::vector<Instruction>& instructions = draft.instructions[core];
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    Instruction& instruction = instructions[i];
    if (IsMarker(instruction)) continue;
    const auto first_wait = static_cast<uint32_t>(waits.size());
    const auto first_signal = static_cast<uint32_t>(signals.size());
    const size_t num_waits =
        Take(pools.WaitsOf(instruction), i, plan.waits, next_wait, waits);
    const size_t num_signals = Take(pools.SignalsOf(instruction), i,
                                    plan.signals, next_signal, signals);
    constexpr size_t kMax = std::numeric_limits<uint8_t>::max();
    if (num_waits > kMax || num_signals > kMax) {
      return CannotSynchronise(
          "an instruction has more than 255 waits or signals", core);
    }
    instruction.first_wait = first_wait;
    instruction.num_waits = static_cast<uint8_t>(num_waits);
    instruction.first_signal = first_signal;
    instruction.num_signals = static_cast<uint8_t>(num_signals);
  }
  pools.waits = std::move(waits);
  pools.signals = std::move(signals);
  return absl::OkStatus();
}

absl::Status CannotSynchronise(std::string message, uint32_t core) {
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "synchronise.semaphores";
  d.message = absl::StrCat("data dependences cannot be expressed: ", message);
  d.core = static_cast<int>(core);
  d.remedy = "use fewer semaphores of your own, or a shorter program";
  return ToStatus(std::move(d));
}

}  // namespace trnemu
