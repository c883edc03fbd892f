// What the scheduler says when a run cannot go on.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/extent.h"
#include "core/runner.h"

namespace trnemu {
namespace {

// Bounding boxes in the memory: partitions and bytes of each.
bool SameBytes(const Tile& a, const Tile& b) {
  if (a.space != b.space || a.space == Space::kHbm ||
      a.first_partition >= b.first_partition + b.partitions ||
      b.first_partition >= a.first_partition + a.partitions) {
    return false;
  }
  const auto [a_low, a_high] = RowExtent(a);
  const auto [b_low, b_high] = RowExtent(b);
  return a.address + a_low < b.address + b_high &&
         b.address + b_low < a.address + a_high;
}

}  // namespace

std::string Runner::LastWriter(size_t core, const Instruction& i,
                               const Access& access) const {
  Tile tile, other;
  placement_.Resolve(core, access, tile);
  const CoreProgram& pools = program_.cores[core];
  const Instruction* last = nullptr;
  for (Engine engine : kSequencers) {
    for (const Instruction& w : pools.stream(engine)) {
      if (w.order >= i.order || (last != nullptr && w.order < last->order)) {
        continue;
      }
      const auto specs = Info(w.opcode).operands;
      if (specs.empty() || specs[0].role == Role::kIn ||
          pools.OperandsOf(w)[0].kind != Operand::Kind::kAccess ||
          w.opcode == Opcode::kPsumReset) {
        continue;
      }
      placement_.Resolve(core, pools.OperandsOf(w)[0].access, other);
      if (SameBytes(tile, other)) last = &w;
    }
  }
  if (last == nullptr) return "";
  std::string text =
      absl::StrCat("last written by instruction ", last->order, ", ",
                   program_.operations[last->operation], " on the ",
                   std::string(Name(last->engine)), " engine");
  const std::string source = program_.DescribeSource(last->source);
  if (!source.empty()) absl::StrAppend(&text, ", at ", source);
  return text;
}

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

// Adds the operand's tensor, and who wrote its bytes last where that is the
// question.
void Runner::DescribeOperand(Diagnostic& d, size_t core,
                             const Instruction& i) const {
  const auto specs = Info(i.opcode).operands;
  for (size_t o = 0; o < specs.size(); ++o) {
    const Operand& operand = program_.cores[core].OperandsOf(i)[o];
    if (specs[o].name != d.operand || operand.kind != Operand::Kind::kAccess) {
      continue;
    }
    for (const auto& [key, value] : d.details) {
      if (key == "tensor") return;  // described before
    }
    const Tensor& t = program_.tensors[operand.access.tensor];
    std::string text = absl::StrCat(t.name, ", ", DescribeShape(t.shape), " ",
                                    std::string(Name(t.dtype)), " in ",
                                    std::string(Name(t.space())));
    if (t.on_chip()) {
      absl::StrAppend(&text, " from partition ", t.start_partition, ", byte ",
                      t.byte_address);
    }
    const std::string source = program_.DescribeSource(t.source);
    if (!source.empty()) absl::StrAppend(&text, ", made at ", source);
    d.details.emplace_back("tensor", text);
    if (d.id == "nc_matmul.accumulate_on_other") {
      const std::string writer = LastWriter(core, i, operand.access);
      if (!writer.empty()) d.related.push_back(writer);
    }
    return;
  }
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
