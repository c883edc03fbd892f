#include "core/cost_table/law_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trnemu {
namespace {

std::string Number(double value) { return absl::StrFormat("%.6g", value); }

// One time of a law: fixed + min(maximum, max(minimum, per * m + wide)).
struct Terms {
  double fixed = 0, per = 0, minimum = 0;
  double maximum = 0;  // 0: none
};

// Written in N if what the law counts is a multiple of it. Size 0: no part of
// it is in N.
std::string Formula(const Terms& terms, const AppliedLaw& of, int64_t size) {
  const double stream = terms.per * of.strided + of.wide_ns;
  const double n = static_cast<double>(size);
  const double times = size == 0 ? 0 : of.elements / n;
  const bool in_n = times == std::round(times) && times >= 1;
  const bool limited = terms.maximum > 0;
  if (stream == 0 || !in_n) {
    const double most = limited ? std::min(terms.maximum, stream) : stream;
    return Number(terms.fixed + std::max(terms.minimum, most));
  }
  std::string text = Number(stream / n) + " N";
  if (terms.minimum > 0) {
    text = absl::StrCat("max(", Number(terms.minimum), ", ", text, ")");
  }
  if (limited) {
    text = absl::StrCat("min(", Number(terms.maximum), ", ", text, ")");
  }
  return terms.fixed == 0 ? text
                          : absl::StrCat(Number(terms.fixed), " + ", text);
}

// "law[TensorCopy vector any].fixed" and the like: of a completion. `extra`: it
// counts tensors that are scale or bias.
bool IsOfCompletion(const ConstantInfo& c, bool extra) {
  const std::string field = c.path.substr(c.path.find(']') + 1);
  const bool of_extra =
      field == ".per_operand" || field == ".operands_included";
  if (of_extra) return extra;
  return !field.starts_with(".issue_") && field != ".quadrant_change";
}

// The constants of one law's completion, as the description has them.
std::vector<const ConstantInfo*> ConstantsOf(
    std::span<const ConstantInfo> constants, const Hardware& hardware,
    const CostLaw& law, bool extra) {
  const auto rows = LawsFor(hardware, law.opcode, law.engine);
  const auto row = static_cast<size_t>(&law - rows.data());
  const std::string engine(law.engine == Engine::kUnknown ? "any"
                                                          : Name(law.engine));
  const std::string prefix = absl::StrCat("law[", law.opcode, " ", engine, " ");
  std::string path;
  size_t seen = 0;
  std::vector<const ConstantInfo*> found;
  for (const ConstantInfo& c : constants) {
    if (!c.path.starts_with(prefix)) continue;
    const std::string of = c.path.substr(0, c.path.find(']'));
    if (of != path) {
      path = of;
      ++seen;
    }
    if (seen == row + 1 && IsOfCompletion(c, extra)) found.push_back(&c);
  }
  return found;
}

// The weakest status of the constants that are not 0, and their sources.
void Cite(std::span<const ConstantInfo* const> constants,
          CostFormula& formula) {
  ConstantStatus weakest = ConstantStatus::kUnset;
  for (const ConstantInfo* c : constants) {
    weakest = std::max(weakest, c->status);
    if (formula.source.find(c->source) != std::string::npos) continue;
    absl::StrAppend(&formula.source, formula.source.empty() ? "" : "; ",
                    c->source);
  }
  formula.status =
      std::string(kConstantStatusNames[static_cast<size_t>(weakest)]);
}

bool IsDmaTime(const ConstantInfo& c, std::string_view direction) {
  const std::string law = absl::StrCat("dma.", std::string(direction), ".");
  return c.path.starts_with(law) && c.path != law + "spacing";
}

}  // namespace

CostFormula FormulaOf(const Hardware& hardware, const TimeModel& time,
                      Opcode opcode, const ExecuteArgs& args, int64_t n) {
  CostFormula formula;
  formula.instruction = std::string(Info(opcode).name);
  const AppliedLaw applied = time.LawOf(opcode, args);
  if (applied.law == nullptr) {
    formula.issue = formula.completion = "0";
    return formula;
  }
  const CostLaw& law = *applied.law;
  formula.issue =
      Formula({law.issue_fixed_ns + applied.extra_ns, law.issue_per_element_ns,
               law.issue_minimum_ns, law.issue_maximum_ns},
              applied, n);
  formula.completion =
      Formula({law.completion_fixed_ns + law.array_fixed_ns + applied.extra_ns,
               law.completion_per_element_ns, law.completion_minimum_ns},
              applied, n);
  const Cost cost = time.CostOf(opcode, args);
  formula.issue_ns = static_cast<double>(cost.issue) / kTicksPerNs;
  formula.completion_ns = static_cast<double>(cost.completion) / kTicksPerNs;
  const std::vector<ConstantInfo> constants = ListConstants(hardware);
  Cite(ConstantsOf(constants, hardware, law, applied.extra_ns != 0), formula);
  return formula;
}

CostFormula FormulaOfDma(const Hardware& hardware, const TimeModel& time,
                         const DmaTransfer& transfer, Engine trigger,
                         int64_t size) {
  CostFormula formula;
  formula.instruction = std::string(Info(transfer.opcode).name);
  // Nothing is asked of who makes the descriptors.
  const DmaCost cost = time.CostOfDma(transfer, trigger, DgeMode::kUnknown);
  std::vector<DmaPart> parts;
  SplitDma(transfer, 16, parts);
  const DmaShape shape = ShapeOfDmaPart(RunsOfDma(transfer), parts[0]);
  const auto ns = [](Ticks t) { return static_cast<double>(t) / kTicksPerNs; };
  const auto time_of = [&](const DmaShape& part) {
    return cost.start + cost.notify +
           time.TimeOfDmaPart(cost, part, hardware.memory.hbm_stack_bandwidth)
               .payload;
  };
  formula.issue_ns = ns(cost.trigger);
  formula.issue = Number(formula.issue_ns);
  formula.completion_ns = ns(time_of(shape));
  // The law is one of pieces: this is the one of rows this long.
  double per = 0;
  if (size > 1) {
    DmaShape shorter = shape;
    shorter.bytes -= shape.bytes / size;
    per = formula.completion_ns - ns(time_of(shorter));
  }
  formula.completion =
      Number(formula.completion_ns - per * static_cast<double>(size));
  if (per > 0) absl::StrAppend(&formula.completion, " + ", Number(per), " N");
  absl::StrAppend(&formula.completion, ", rows of ", shape.row_bytes, " bytes");
  const std::vector<ConstantInfo> constants = ListConstants(hardware);
  std::vector<const ConstantInfo*> used;
  const auto direction =
      static_cast<size_t>(cost.law - hardware.dma.laws.data());
  for (const ConstantInfo& c : constants) {
    if (IsDmaTime(c, kDmaDirectionNames[direction])) used.push_back(&c);
  }
  Cite(used, formula);
  return formula;
}

}  // namespace trnemu
