// Activate2: y = f((data op0 imm0) op1 imm1) in fp32, dst = cast(y), and the
// running results of the scalar engine.
//
// Each operation rounds, unless numerics scale_bias is fused and op0 is
// multiply [assumed: numerics.md 15.6]. The accumulator takes each y before the
// cast in access order: acc = acc reduce_op y (nki/api/nki/isa/__init__.py:1705
// prints dst[i]) [assumed: 15.8]; unlike an activation's, whose sum is added at
// once. abs_max and abs_min keep the sign of the winner, as the operations do
// elsewhere [assumed].
#include <cmath>
#include <cstdint>

#include "core/engines/activation_checks.h"
#include "core/engines/engines.h"
#include "core/engines/fold_rows.h"
#include "core/engines/rows.h"
#include "core/engines/scalar_accumulators.h"
#include "core/numerics/activation.h"
#include "core/numerics/alu.h"
#include "core/numerics/open_choices.h"

namespace trnemu {
namespace {

using S = slot::Activate2;

ColumnReader ColumnOf(const ExecuteArgs& args, size_t operand,
                      const CoreState& state) {
  return {args.slots[operand], args.operands[operand], state.numerics};
}

// out = x * a + b, x * a - b or b - x * a, rounded once.
void FusedRow(const float* x, float a, bool reverse, bool subtract, float b,
              size_t n, float* out) {
  const float factor = subtract && reverse ? -a : a;
  const float addend = subtract && !reverse ? -b : b;
  for (size_t i = 0; i < n; ++i) out[i] = std::fma(x[i], factor, addend);
}

// One Activate2 instruction.
class Activation2 {
 public:
  Activation2(const ExecuteArgs& args, CoreState& state)
      : state_(state),
        data_(args.slots[S::kData].tile),
        function_(args.attributes[S::kOp].as<ActFunction>()),
        op0_(args.attributes[S::kOp0].as<AluOp>()),
        op1_(args.attributes[S::kOp1].as<AluOp>()),
        reverse1_(args.attributes[S::kReverse1].boolean()),
        imm0_(ColumnOf(args, S::kImm0, state)),
        imm1_(ColumnOf(args, S::kImm1, state)),
        relu_param_(ColumnOf(args, S::kReluParam, state)),
        row0_(ScalarRowOf(op0_, args.attributes[S::kReverse0].boolean())),
        row1_(ScalarRowOf(op1_, reverse1_)),
        fused_(state.numerics.scale_bias == ScaleBias::kFused &&
               op0_ == AluOp::kMultiply && op1_ != AluOp::kNone),
        checks_(HasLimitedRange(function_)),
        reader_(data_, state, "data",
                IsInteger(args.slots[S::kDst].tile.dtype)),
        writer_(args.slots[S::kDst].tile, "dst", state) {
    writer_.Reads(data_);
    writer_.Reads(imm0_);
    writer_.Reads(imm1_);
    writer_.Reads(relu_param_);
  }

  // Computes y of a partition, in dst or in `buffer`, and stores it.
  const float* Row(int64_t partition, float* buffer) {
    const size_t n = static_cast<size_t>(data_.free_size);
    // All before the first write: a column may be dst.
    const float imm0 = imm0_.At(partition);
    const float imm1 = imm1_.At(partition);
    const float slope = relu_param_.At(partition);
    const float* const data = reader_.Read(partition, buffer);
    float* const y = writer_.Place(partition, buffer);
    const float* const x = Operate(data, imm0, imm1, n, y);
    if (checks_ && !reported_) {
      reported_ = ReportOutsideRange(function_, data_, partition, x, state_);
    }
    if (function_ == ActFunction::kPrelu) {
      PreluRow(x, n, slope, y);
    } else {
      ActivationRow(function_, x, n, y);
      AddTableError(state_.numerics.table_error, function_, n, y);
    }
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

  void Reduce(AluOp reduce_op) {
    FoldRows(reduce_op, data_.partitions, data_.free_size,
             state_.scalar_accumulators.data(), state_,
             [&](int64_t p, float* buffer) { return Row(p, buffer); });
  }

 private:
  // out = (x op0 imm0) op1 imm1; returns x if that is the same.
  const float* Operate(const float* x, float imm0, float imm1, size_t n,
                       float* out) const {
    if (fused_) {
      FusedRow(x, imm0, reverse1_, op1_ == AluOp::kSubtract, imm1, n, out);
      return out;
    }
    if (op0_ != AluOp::kNone) {
      row0_(x, imm0, n, out);
      x = out;
    }
    if (op1_ == AluOp::kNone) return x;
    row1_(x, imm1, n, out);
    return out;
  }

  CoreState& state_;
  const Tile& data_;
  const ActFunction function_;
  const AluOp op0_;
  const AluOp op1_;
  const bool reverse1_;
  const ColumnReader imm0_;
  const ColumnReader imm1_;
  const ColumnReader relu_param_;
  const ScalarRow row0_;
  const ScalarRow row1_;
  const bool fused_;
  const bool checks_;
  bool reported_ = false;
  const RowReader reader_;
  RowWriter writer_;
};

}  // namespace

absl::Status ExecuteActivate2(const ExecuteArgs& args, CoreState& state) {
  const ReduceCmd command = args.attributes[S::kReduceCmd].as<ReduceCmd>();
  const AluOp reduce_op = args.attributes[S::kReduceOp].as<AluOp>();
  absl::Status status = PrepareScalarAccumulators(
      command, reduce_op, args.slots[S::kData].tile.partitions, state);
  if (!status.ok()) return status;
  Activation2 activation(args, state);
  if (command == ReduceCmd::kReduce || command == ReduceCmd::kResetReduce) {
    activation.Reduce(reduce_op);
  } else {
    activation.Plain();
  }
  return absl::OkStatus();
}

}  // namespace trnemu
