#include "core/engines/scalar_accumulators.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"

namespace trnemu {

// Accumulators outlive a program: what nothing has reset is left over.
absl::Status CheckScalarAccumulators(int64_t lanes, std::string_view use,
                                     CoreState& state) {
  const auto begin = state.scalar_accumulators_set.begin();
  const auto unset = std::find(begin, begin + lanes, false);
  if (unset == begin + lanes || !state.check_memory) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kUninitialized;
  d.id = "activation.accumulator_unset";
  d.operand = "reduce_res";
  d.message = absl::StrCat(
      std::string(use), " the accumulator of lane ", unset - begin,
      ", which nothing has reset in this run; reduce_cmd is idle unless given");
  d.remedy =
      "pass reduce_cmd=\"reset_reduce\" to sum this instruction's values";
  d.reference = "nki/api/nki/isa/__init__.py:1354";
  return Admit(state, ToStatus(std::move(d)));
}

absl::Status PrepareScalarAccumulators(ReduceCmd cmd, AluOp reduce_op,
                                       int64_t lanes, CoreState& state) {
  if (cmd == ReduceCmd::kReduce) {
    return CheckScalarAccumulators(lanes, "reduce_cmd=reduce adds to", state);
  }
  if (cmd == ReduceCmd::kReset || cmd == ReduceCmd::kResetReduce) {
    std::fill_n(state.scalar_accumulators.begin(), lanes,
                ReduceIdentity(reduce_op));
    std::fill_n(state.scalar_accumulators_set.begin(), lanes, true);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
