// What the scheduler says when a run cannot go on.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/runner.h"

namespace trnemu {

// "core 0 is at a core_barrier that core 1 has not reached"; "" for other
// instructions.
std::string Runner::BarrierText(size_t core, const Instruction& i) const {
  if (i.opcode != Opcode::kCoreBarrier) return "";
  using S = slot::CoreBarrier;
  const auto attributes = program_.cores[core].AttributesOf(i);
  if (attributes[S::kPhase].integer() == 0) return "";
  std::string others;
  for (size_t other = 0; other < program_.cores.size(); ++other) {
    if (other == core || !(attributes[S::kCores].integer() >> other & 1)) {
      continue;
    }
    absl::StrAppend(&others, others.empty() ? "core " : ", ", other);
  }
  return absl::StrCat("core ", core, " is at a core_barrier that ", others,
                      " has not reached");
}

absl::Status Runner::Deadlock() const {
  Diagnostic d;
  d.category = Category::kDeadlock;
  d.id = "deadlock";
  DescribeExchanges(d);
  int64_t stuck = 0;
  for (const Sequencer& s : sequencers_) {
    if (s.done()) continue;
    ++stuck;
    const Instruction& i = *s.next;
    for (const Wait& w : program_.cores[s.core].WaitsOf(i)) {
      const int64_t value = semaphores_.value(w.semaphore);
      const int64_t wanted = CountOf(s, w.value, w.is_register);
      if (value >= wanted) continue;
      std::string line =
          absl::StrCat("core ", s.core, " ", std::string(Name(s.engine)),
                       " engine waits at instruction ", i.order, " (",
                       std::string(Info(i.opcode).name), ") for semaphore ",
                       program_.semaphores[w.semaphore].name, " >= ", wanted,
                       "; it is ", value);
      const std::string source = program_.DescribeSource(i.source);
      if (!source.empty()) absl::StrAppend(&line, ", at ", source);
      d.related.push_back(line);
      const std::string barrier = BarrierText(s.core, i);
      if (!barrier.empty()) d.related.push_back("  " + barrier);
      int listed = 0;
      for (const Sequencer& other : sequencers_) {
        // In a loop what lies before comes again.
        const Instruction* from =
            other.loops != nullptr && !other.done() ? other.begin : other.next;
        for (const Instruction* n = from; n != other.end; ++n) {
          for (const trnemu::Signal& g :
               program_.cores[other.core].SignalsOf(*n)) {
            if (g.semaphore != w.semaphore || listed >= 3) continue;
            ++listed;
            d.related.push_back(absl::StrCat(
                "  instruction ", n->order, " on the ",
                std::string(Name(other.engine)), " engine of core ", other.core,
                " could still signal it"));
          }
        }
      }
      for (std::string& exchange : ExchangesThatSignal(w.semaphore)) {
        d.related.push_back(std::move(exchange));
        ++listed;
      }
      if (listed == 0) {
        d.related.push_back("  nothing that is left signals it");
      }
      // What waits for another core is more likely at fault than what waits
      // for that.
      const bool cause = !barrier.empty() && d.message.empty();
      if (cause) {
        d.message = absl::StrCat("nothing can proceed: ", barrier);
        d.remedy =
            "call core_barrier as often on each of its cores, in an order in "
            "which all come to it";
      }
      if (d.instruction && !cause) continue;
      d.instruction = i.order;
      d.opcode = Info(i.opcode).name;
      d.operation = program_.operations[i.operation];
      d.engine = Name(s.engine);
      d.core = static_cast<int>(s.core);
      d.source = source;
    }
  }
  if (!d.message.empty()) return ToStatus(std::move(d));
  if (stuck == 0) return absl::OkStatus();
  d.message = absl::StrCat("nothing can proceed: ", stuck,
                           stuck == 1 ? " engine waits" : " engines wait",
                           " for semaphores that nobody will signal");
  d.remedy = "add the missing signal, or wait for the value that is reached";
  return ToStatus(std::move(d));
}

}  // namespace trnemu
