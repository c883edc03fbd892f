#include "core/races/remedy.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/semaphores.h"

namespace trnemu {
namespace {

constexpr size_t kMaxNamed = 3;

int64_t AmountOf(const Signal& g) {
  return g.op == SignalOp::kInc ? 1 : g.value;
}

bool Rises(const Signal& g) {
  return (g.op == SignalOp::kAdd || g.op == SignalOp::kInc) && !g.is_register;
}

bool IsInLoop(const CoreProgram& core, const Instruction& i) {
  const auto& stream = core.stream(i.engine);
  const int64_t at = &i - stream.data();
  for (size_t b = 0; b < stream.size(); ++b) {
    if (stream[b].opcode != Opcode::kBranch) continue;
    const int64_t target =
        core.AttributesOf(stream[b])[slot::Branch::kTarget].integer();
    if (target <= at && at <= static_cast<int64_t>(b)) return true;
  }
  return false;
}

// A semaphore, as the program's text has it.
struct Use {
  int64_t value = 0;      // once `first` and all before it have signalled
  int64_t total = 0;      // once everyone has
  bool countable = true;  // a value means something: no loop, nothing consumed
  bool taken = false;     // somebody consumes it
  std::vector<uint32_t> later;  // who signals after `first`
};

Use UseOf(const Program& program, uint32_t semaphore, const Racer& first) {
  Use use;
  for (uint32_t c = 0; c < program.cores.size(); ++c) {
    const CoreProgram& core = program.cores[c];
    for (Engine engine : kSequencers) {
      for (const Instruction& i : core.stream(engine)) {
        for (const Wait& w : core.WaitsOf(i)) {
          if (w.semaphore != semaphore || !w.consume) continue;
          use.countable = false;
          use.taken = true;
        }
        for (const Signal& g : core.SignalsOf(i)) {
          if (g.semaphore != semaphore) continue;
          if (!Rises(g) || IsInLoop(core, i)) use.countable = false;
          const int64_t amount = AmountOf(g) * QueuesOf(program, c, i);
          use.total += amount;
          if (c == first.core && i.order <= first.access.instruction->order) {
            use.value += amount;
          } else {
            use.later.push_back(i.order);
          }
        }
      }
    }
  }
  std::sort(use.later.begin(), use.later.end());
  return use;
}

std::string NameOf(const Racer& racer) {
  return absl::StrCat("instruction ", racer.access.instruction->order);
}

// The signal by which others can learn that `first` is done; null: none.
const Signal* UsefulSignal(const Program& program, const Racer& first) {
  for (const Signal& g :
       program.cores[first.core].SignalsOf(*first.access.instruction)) {
    const bool done =
        g.at == SignalAt::kComplete || !first.access.write || !first.dma();
    if (done && Rises(g)) return &g;
  }
  return nullptr;
}

const Wait* WaitFor(const Program& program, const Racer& second,
                    uint32_t semaphore) {
  for (const Wait& w :
       program.cores[second.core].WaitsOf(*second.access.instruction)) {
    if (w.semaphore == semaphore && !w.is_register) return &w;
  }
  return nullptr;
}

std::string WithoutSignal(const Program& program, const Racer& first,
                          const Racer& second) {
  for (const Signal& g :
       program.cores[first.core].SignalsOf(*first.access.instruction)) {
    if (g.at != SignalAt::kRead || !first.dma()) continue;
    return absl::StrCat(
        NameOf(first), " signals ", program.semaphores[g.semaphore].name,
        " when it has read its source, which does not say that it has "
        "written: let it signal at=\"complete\", and ",
        NameOf(second), " wait for that");
  }
  const int64_t queues =
      QueuesOf(program, first.core, *first.access.instruction);
  return absl::StrCat(
      "let ", NameOf(first), " signal a semaphore",
      queues > 1 ? absl::StrCat(" (it rises by ", queues, ", once a queue)")
                 : "",
      " and ", NameOf(second), " wait for it");
}

// Tokens: the second takes what the first adds each time.
Advice OfTokens(const std::string& name, const Use& use, int64_t amount,
                const Wait* wait, const Racer& first, const Racer& second) {
  if (wait != nullptr && wait->value >= amount) {
    return {absl::StrCat(
                NameOf(second), " waits for semaphore ", name,
                ", but what other instructions or iterations add can make that "
                "up: a wait is missing that holds those back until ",
                NameOf(second),
                " has taken its turn (see the other findings), "
                "or they need a semaphore of their own"),
            true};
  }
  if (wait != nullptr) {
    return {absl::StrCat("let ", NameOf(second), " wait for ", amount, " of ",
                         name, ", not ", wait->value, ": ", NameOf(first),
                         " adds that much each time"),
            false};
  }
  // Of the iteration before: nothing has come when the first one starts.
  const bool carried =
      first.access.instruction->order >= second.access.instruction->order;
  return {absl::StrCat("let ", NameOf(second), " take what ", NameOf(first),
                       " adds to ", use.taken ? "a semaphore of its own" : name,
                       " each time (Wait(", use.taken ? "s" : name, ", ",
                       amount, ", consume=True))",
                       carried ? absl::StrCat("; add ", amount,
                                              " before the loop, for its first "
                                              "iteration")
                               : ""),
          false};
}

Advice OfCount(const std::string& name, const Use& use, const Wait* wait,
               const Racer& first, const Racer& second) {
  if (wait == nullptr) {
    return {absl::StrCat("let ", NameOf(second), " wait for semaphore ", name,
                         " >= ", use.value, ", which ", NameOf(first),
                         " brings about"),
            false};
  }
  if (wait->value < use.value) {
    return {absl::StrCat(NameOf(second), " waits for semaphore ", name,
                         " >= ", wait->value, ": wait for >= ", use.value,
                         ", which takes all signals of ", NameOf(first)),
            false};
  }
  const std::span<const uint32_t> named(use.later.data(),
                                        std::min(kMaxNamed, use.later.size()));
  return {
      absl::StrCat(
          NameOf(second), " waits for semaphore ", name, " >= ", wait->value,
          ", which signals of instruction ", absl::StrJoin(named, ", "),
          use.later.size() > named.size() ? " and later ones" : "",
          " can make up before ", NameOf(first),
          " is done: give those a semaphore of their own, trigger them "
          "when ",
          NameOf(first), " is known complete, or wait for >= ", use.total),
      true};
}

}  // namespace

Advice AdviceOf(const Program& program, const Racer& first,
                const Racer& second) {
  if (first.core != second.core) {
    return {
        absl::StrCat("nothing orders the two cores here: call core_barrier on "
                     "both, after the one that has to come first and before "
                     "the other, or let that signal a semaphore for which the "
                     "other waits"),
        false};
  }
  const Signal* const signal = UsefulSignal(program, first);
  if (signal == nullptr) return {WithoutSignal(program, first, second), false};
  const std::string& name = program.semaphores[signal->semaphore].name;
  const Use use = UseOf(program, signal->semaphore, first);
  const Wait* const wait = WaitFor(program, second, signal->semaphore);
  const CoreProgram& core = program.cores[first.core];
  const bool loops = IsInLoop(core, *first.access.instruction) ||
                     IsInLoop(core, *second.access.instruction);
  if (use.countable && !loops) return OfCount(name, use, wait, first, second);
  const int64_t amount =
      AmountOf(*signal) *
      QueuesOf(program, first.core, *first.access.instruction);
  return OfTokens(name, use, amount, wait, first, second);
}

}  // namespace trnemu
