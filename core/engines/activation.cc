// Activate: y = f(data * scale + bias) in fp32, dst = cast(y), and the running
// sums of the scalar engine; ReadAccumulator.
//
// The product and the sum are rounded separately unless numerics scale_bias is
// fused [assumed: numerics.md 15.6]. The reduction sums y before the cast,
// ascending, and adds that sum once to the accumulator (spec/decisions.md).
// A lane is a partition counted from the view's first one [assumed].
#include "core/numerics/activation.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "core/engines/activation_checks.h"
#include "core/engines/engines.h"
#include "core/engines/fold_rows.h"
#include "core/engines/rows.h"
#include "core/engines/scalar_accumulators.h"
#include "core/numerics/alu.h"
#include "core/numerics/open_choices.h"

namespace trnemu {
namespace {

// out = x * scale + bias. A bias that is not given is 0 and added like another
// (spec/isa.json, activation: "None acts as 0"): it makes -0 a 0.
const float* ScaleAndBias(const float* x, float scale, float bias, size_t n,
                          ScaleBias rounding, float* out) {
  if (rounding == ScaleBias::kFused) {
    for (size_t i = 0; i < n; ++i) out[i] = std::fma(x[i], scale, bias);
    return out;
  }
  if (scale != 1) {
    AluRowScalar(AluOp::kMultiply, x, scale, false, n, out);
    x = out;
  }
  AluRowScalar(AluOp::kAdd, x, bias, false, n, out);
  return out;
}

// One Activate instruction.
class Activation {
 public:
  Activation(const ExecuteArgs& args, CoreState& state)
      : state_(state),
        data_(args.slots[S::kData].tile),
        function_(args.attributes[S::kOp].as<ActFunction>()),
        checks_(HasLimitedRange(function_) || function_ == ActFunction::kPrelu),
        bias_(args.slots[S::kBias], args.operands[S::kBias], state.numerics),
        scale_(args.slots[S::kScale], args.operands[S::kScale], state.numerics),
        reader_(data_, state, "data",
                IsInteger(args.slots[S::kDst].tile.dtype)),
        writer_(args.slots[S::kDst].tile, "dst", state) {
    writer_.Reads(data_);
    writer_.Reads(bias_);
    writer_.Reads(scale_);
  }

  // Computes y of a partition, in dst or in `buffer`, and stores it.
  const float* Row(int64_t partition, float* buffer) {
    const size_t n = static_cast<size_t>(data_.free_size);
    const float scale = scale_.At(partition);
    const float bias = bias_.At(partition);
    const float* const data = reader_.Read(partition, buffer);
    float* const y = writer_.Place(partition, buffer);
    const float* const x =
        ScaleAndBias(data, scale, bias, n, state_.numerics.scale_bias, y);
    if (checks_ && !reported_) {
      reported_ =
          function_ == ActFunction::kPrelu
              ? ReportNoPreluSlope(data_, partition, x, state_)
              : ReportOutsideRange(function_, data_, partition, x, state_);
    }
    ActivationRow(function_, x, n, y);
    AddTableError(state_.numerics.table_error, function_, n, y);
    writer_.Write(partition, y);
    return y;
  }

  void Plain() {
    float* const buffer = RowBuffer(state_, 0, data_.free_size);
    if (checks_) {
      for (uint32_t p = 0; p < data_.partitions; ++p) Row(p, buffer);
    } else {
      writer_.ForEachPartition([&](uint32_t p) { Row(p, buffer); });
    }
  }

  // The same, and adds each row's sum to its lane.
  void Reduce() {
    const size_t n = static_cast<size_t>(data_.free_size);
    float* const lanes = state_.scalar_accumulators.data();
    ForEachRowBlock(
        data_.partitions, data_.free_size, state_,
        [&](int64_t p, float* buffer) { return Row(p, buffer); },
        [&](int64_t first, int64_t count, const float* const* rows) {
          const size_t size = static_cast<size_t>(count);
          std::array<float, kFoldBlock> sums{};
          ReduceRowsIn(state_.numerics.reduce, AluOp::kAdd, rows, size, n,
                       sums.data());
          AluRows(AluOp::kAdd, lanes + first, sums.data(), size, lanes + first);
        });
  }

 private:
  using S = slot::Activate;
  CoreState& state_;
  const Tile& data_;
  const ActFunction function_;
  const bool checks_;
  bool reported_ = false;
  const ColumnReader bias_;
  const ColumnReader scale_;
  const RowReader reader_;
  RowWriter writer_;
};

}  // namespace

absl::Status ExecuteActivate(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Activate;
  const ReduceCmd command = args.attributes[S::kReduceCmd].as<ReduceCmd>();
  absl::Status status = PrepareScalarAccumulators(
      command, AluOp::kAdd, args.slots[S::kData].tile.partitions, state);
  if (!status.ok()) return status;
  Activation activation(args, state);
  if (command == ReduceCmd::kReduce || command == ReduceCmd::kResetReduce) {
    activation.Reduce();
  } else {
    activation.Plain();
  }
  return absl::OkStatus();
}

absl::Status ExecuteReadAccumulator(const ExecuteArgs& args, CoreState& state) {
  const Tile& dst = args.slots[slot::ReadAccumulator::kDst].tile;
  absl::Status status =
      CheckScalarAccumulators(dst.partitions, "reduce_res reads", state);
  if (!status.ok()) return status;
  RowWriter writer(dst, "dst", state);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    writer.Write(p, &state.scalar_accumulators[p]);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
