#include "core/engines/vector_accumulators.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/numerics/alu.h"

namespace trnemu {

absl::Status CheckVectorAccumulators(int64_t first_lane, int64_t lanes,
                                     std::string_view use, CoreState& state) {
  const auto begin = state.vector_accumulators_known.begin() + first_lane;
  const auto unknown = std::find(begin, begin + lanes, false);
  if (unknown == begin + lanes || !state.check_memory) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kUninitialized;
  d.id = "vector.accumulator_unset";
  d.operand = "reduce_res";
  d.message = absl::StrCat(
      std::string(use), " the vector engine's accumulator of lane ",
      unknown - state.vector_accumulators_known.begin(),
      ", whose value is not known: nothing has reset it in this run, or an "
      "instruction with reduce_cmd=idle ran since");
  d.remedy =
      "pass reduce_cmd=\"reset_reduce\" to start with this instruction's "
      "values";
  d.reference = "nki/api/nki/isa/__init__.py:2357";
  return Admit(state, ToStatus(std::move(d)));
}

void ForgetVectorAccumulators(CoreState& state) {
  state.vector_accumulators_known.fill(false);
}

absl::Status PrepareVectorAccumulators(ReduceCmd cmd, AluOp reduce_op,
                                       const ColumnReader* init,
                                       int64_t first_lane, int64_t lanes,
                                       CoreState& state) {
  float* const values = state.vector_accumulators.data() + first_lane;
  switch (cmd) {
    case ReduceCmd::kIdle:
      ForgetVectorAccumulators(state);
      return absl::OkStatus();
    case ReduceCmd::kReduce:
      return CheckVectorAccumulators(first_lane, lanes,
                                     "reduce_cmd=reduce adds to", state);
    case ReduceCmd::kLoadReduce:
      for (int64_t p = 0; p < lanes; ++p) values[p] = init->At(p);
      break;
    case ReduceCmd::kReset:
    case ReduceCmd::kResetReduce:
      std::fill_n(values, lanes, ReduceIdentity(reduce_op));
      break;
  }
  std::fill_n(state.vector_accumulators_known.begin() + first_lane, lanes,
              true);
  return absl::OkStatus();
}

}  // namespace trnemu
