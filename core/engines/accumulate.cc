// TensorScalarReduce, Exponential, ReadVectorAccumulator.
//
// Element by element as tensor_scalar does, in fp32; the accumulators take the
// values before the cast to dst, one after the other in access order
// [assumed: numerics.md 15.8]: acc = acc op value, from what
// PrepareVectorAccumulators left.
#include "core/engines/engines.h"
#include "core/engines/fold_rows.h"
#include "core/engines/rows.h"
#include "core/engines/vector_accumulators.h"
#include "core/numerics/activation.h"
#include "core/numerics/alu.h"
#include "core/numerics/open_choices.h"

namespace trnemu {

absl::Status ExecuteTensorScalarReduce(const ExecuteArgs& args,
                                       CoreState& state) {
  using S = slot::TensorScalarReduce;
  const Tile& data = args.slots[S::kData].tile;
  const ColumnReader operand(args.slots[S::kOperand0],
                             args.operands[S::kOperand0], state.numerics);
  const ColumnReader init(args.slots[S::kReduceInit],
                          args.operands[S::kReduceInit], state.numerics);
  const AluOp reduce_op = args.attributes[S::kReduceOp].as<AluOp>();
  absl::Status status =
      PrepareVectorAccumulators(args.attributes[S::kReduceCmd].as<ReduceCmd>(),
                                reduce_op, &init, 0, data.partitions, state);
  if (!status.ok()) return status;
  const RowReader reader(data, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(data);
  writer.Reads(operand);
  const ScalarRow row = ScalarRowOf(args.attributes[S::kOp0].as<AluOp>(),
                                    args.attributes[S::kReverse0].boolean());
  const auto compute = [&](int64_t p, float* buffer) {
    const float number = operand.At(p);
    const float* const x = reader.Read(p, buffer);
    float* const y = writer.Place(p, buffer);
    row(x, number, static_cast<size_t>(data.free_size), y);
    writer.Write(p, y);
    return y;
  };
  FoldRows(reduce_op, data.partitions, data.free_size,
           state.vector_accumulators.data(), state, compute);
  return absl::OkStatus();
}

absl::Status ExecuteExponential(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Exponential;
  const Tile& src = args.slots[S::kSrc].tile;
  const ColumnReader max_value(args.slots[S::kMaxValue],
                               args.operands[S::kMaxValue], state.numerics);
  const ColumnReader init(args.slots[S::kReduceInit],
                          args.operands[S::kReduceInit], state.numerics);
  const ReduceCmd command = args.attributes[S::kReduceCmd].as<ReduceCmd>();
  absl::Status status = PrepareVectorAccumulators(command, AluOp::kAdd, &init,
                                                  0, src.partitions, state);
  if (!status.ok()) return status;
  const RowReader reader(src, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(src);
  writer.Reads(max_value);
  const size_t n = static_cast<size_t>(src.free_size);
  const ScalarRow subtract = ScalarRowOf(AluOp::kSubtract, false);
  const auto compute = [&](int64_t p, float* buffer) {
    const float max = max_value.At(p);
    const float* const x = reader.Read(p, buffer);
    float* const y = writer.Place(p, buffer);
    subtract(x, max, n, y);
    ActivationRow(ActFunction::kExp, y, n, y);
    AddTableError(state.numerics.table_error, ActFunction::kExp, n, y);
    writer.Write(p, y);
    return y;
  };
  if (command == ReduceCmd::kIdle) {
    float* const buffer = RowBuffer(state, 0, src.free_size);
    writer.ForEachPartition([&](uint32_t p) { compute(p, buffer); });
  } else {
    FoldRows(AluOp::kAdd, src.partitions, src.free_size,
             state.vector_accumulators.data(), state, compute);
  }
  return absl::OkStatus();
}

absl::Status ExecuteReadVectorAccumulator(const ExecuteArgs& args,
                                          CoreState& state) {
  using S = slot::ReadVectorAccumulator;
  const Tile& dst = args.slots[S::kDst].tile;
  absl::Status status =
      CheckVectorAccumulators(0, dst.partitions, "reduce_res reads", state);
  if (!status.ok()) return status;
  const bool negate = args.attributes[S::kNegate].boolean();
  RowWriter writer(dst, "dst", state);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    float value = state.vector_accumulators[p];
    if (negate) AluRowScalar(AluOp::kMultiply, &value, -1, false, 1, &value);
    writer.Write(p, &value);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
