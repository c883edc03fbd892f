// What the scheduler says when a run cannot go on.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/deadlock.h"
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
  StalledRun stalled{program_,    semaphores_, semaphore_use_,
                     sequencers_, exchanges_,  {}};
  for (const auto& queue : pending_parts_) {
    for (const auto& [transfer, part] : queue) {
      const int64_t exchange = transfers_[transfer].exchange;
      if (exchange < 0) continue;
      for (const ExchangeEnd& end : exchanges_.at(exchange).ends) {
        auto& crossed = stalled.crossed;
        if (std::find(crossed.begin(), crossed.end(), &end) == crossed.end()) {
          crossed.push_back(&end);
        }
      }
    }
  }
  return ReportDeadlock(stalled);
}

}  // namespace trnemu
