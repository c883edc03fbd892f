// What ProgramBuilder adds to the operations by which cores meet.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "isa/builder.h"

namespace trnemu {
namespace {

constexpr size_t kMost = std::numeric_limits<uint8_t>::max();

bool IsIn(uint32_t cores, int core) { return (cores >> core & 1) != 0; }

uint32_t MaskOf(const Value& cores) {
  uint32_t mask = 0;
  for (int i = 0; i < cores.num_ints; ++i) mask |= 1u << cores.ints[i];
  return mask;
}

// "barrier.0-1.core0"
std::string NameOf(uint32_t cores, int core) {
  std::string name = "barrier.";
  for (int c = 0; c < 32; ++c) {
    if (!IsIn(cores, c)) continue;
    absl::StrAppend(&name, name.back() == '.' ? "" : "-", c);
  }
  return absl::StrCat(name, ".core", core);
}

// Gives an instruction that has its place one more signal.
void AddSignal(CoreProgram& pools, Instruction& i, Signal signal) {
  const auto own = pools.SignalsOf(i);
  std::vector<Signal> all(own.begin(), own.end());
  all.push_back(signal);
  i.first_signal = static_cast<uint32_t>(pools.signals.size());
  i.num_signals = static_cast<uint8_t>(all.size());
  pools.signals.insert(pools.signals.end(), all.begin(), all.end());
}

}  // namespace

ProgramBuilder::Barrier& ProgramBuilder::BarrierOf(uint32_t cores) {
  Barrier& barrier = barriers_[cores];
  if (!barrier.arrivals.empty()) return barrier;
  auto& semaphores = draft_.program.semaphores;
  for (int core = 0; core < num_cores(); ++core) {
    if (!IsIn(cores, core)) continue;
    barrier.arrivals[core] = static_cast<uint32_t>(semaphores.size());
    semaphores.push_back({static_cast<uint32_t>(core), NameOf(cores, core)});
  }
  return barrier;
}

// Each core has a semaphore that counts the arrivals of the others, so the
// barriers of a set of cores must come one after the other on every core. One
// engine sees to that by itself; where the next barrier is on another engine,
// the one before gives it its turn.
absl::StatusOr<ProgramBuilder::Meeting> ProgramBuilder::MeetingOf(
    const Call& call, const CallOptions& options) {
  Meeting meeting;
  if (call.operation->name != "core_barrier") return meeting;
  const uint32_t cores = MaskOf(call[ParameterIndex(*call.operation, "cores")]);
  const int others = std::popcount(cores) - 1;
  if (others == 0) return meeting;
  if (options.waits.size() == kMost || options.signals.size() == kMost) {
    return MakeFault(Category::kIllegal, "argument.count",
                     absl::StrCat("core_barrier waits and signals by itself: "
                                  "it takes at most ",
                                  kMost - 1, " waits or signals more"));
  }
  Barrier& barrier = BarrierOf(cores);
  for (const auto& [core, semaphore] : barrier.arrivals) {
    if (core != core_) meeting.arrived.push_back({semaphore});
  }
  meeting.leaving.push_back({barrier.arrivals[core_], others, true});
  auto& instructions = draft_.instructions[core_];
  Barrier::Last& last = barrier.last[core_];
  const bool in_loop = !open_loops_[core_].empty();
  if (last.engine != Engine::kUnknown && last.engine != call.engine) {
    if (in_loop || last.in_loop) {
      Diagnostic d;
      d.category = Category::kUnsupported;
      d.id = "unsupported.barrier_engines";
      d.operation = "core_barrier";
      d.operand = "engine";
      d.message = absl::StrCat(
          "core_barrier: the one before of these cores is on the ",
          std::string(Name(last.engine)), " engine, this one on the ",
          std::string(Name(call.engine)),
          " engine; with loops, all must be on one");
      d.remedy =
          absl::StrCat("use engine=\"", std::string(Name(last.engine)), "\"");
      return ToStatus(std::move(d));
    }
    const auto [turn, added] = barrier.turns.try_emplace({core_, call.engine});
    if (added) {
      turn->second = AddSemaphore(absl::StrCat(NameOf(cores, core_), ".",
                                               std::string(Name(call.engine))));
    }
    AddSignal(draft_.program.cores[core_], instructions[last.instruction],
              {turn->second});
    meeting.arriving.push_back({turn->second, 1, true});
  }
  last = {call.engine, instructions.size() + 1, in_loop};
  return meeting;
}

uint32_t ProgramBuilder::QueueSetOfStream(Engine owner, int64_t stream) {
  auto& sets = draft_.program.queue_sets;
  const auto [it, added] =
      collective_streams_.try_emplace({core_, owner, stream}, sets.size());
  if (added) {
    sets.push_back({static_cast<uint32_t>(core_), owner, 1});
    pipe_sets_.insert(it->second);
  }
  return it->second;
}

int64_t ProgramBuilder::AddReplicaGroups(const ReplicaGroups& groups) {
  auto& all = draft_.program.replica_groups;
  const auto found = std::find(all.begin(), all.end(), groups);
  if (found != all.end()) return found - all.begin();
  all.push_back(groups);
  return static_cast<int64_t>(all.size()) - 1;
}

uint32_t ProgramBuilder::QueueSetOfPipe(Engine owner, int64_t pipe) {
  auto& sets = draft_.program.queue_sets;
  const auto [it, added] =
      pipes_.try_emplace({core_, owner, pipe}, sets.size());
  if (added) {
    sets.push_back({static_cast<uint32_t>(core_), owner,
                    static_cast<uint32_t>(hardware_->dma.engines)});
    pipe_sets_.insert(it->second);
  }
  return it->second;
}

}  // namespace trnemu
