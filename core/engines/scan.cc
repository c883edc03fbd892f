// TensorTensorScan, TensorScalarCumulative: recurrences along the free
// dimensions, in access order. The state stays fp32 from one element to the
// next, whatever dst holds (spec/decisions.md, "scan carry").
#include "core/numerics/scan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/engines/vector_accumulators.h"
#include "core/numerics/alu.h"

namespace trnemu {
namespace {

constexpr int64_t kBlock = kScanRows;  // partitions that run abreast
using Rows = std::array<const float*, kScanRows>;

// The rows of a block of partitions: where they lie, or in `matrix`.
void ReadBlock(const RowReader& reader, int64_t first, int64_t count,
               float* matrix, Rows& rows) {
  for (int64_t i = 0; i < count; ++i) {
    rows[static_cast<size_t>(i)] =
        reader.Read(first + i, matrix + i * reader.size());
  }
}

// Scans a block of partitions and stores the results.
void ScanBlock(std::span<const ScanStep> steps, int64_t first, int64_t count,
               int64_t n, float* matrix, float* states, RowWriter& writer) {
  std::array<float*, kScanRows> out{};
  for (int64_t i = 0; i < count; ++i) {
    out[static_cast<size_t>(i)] = writer.Place(first + i, matrix + i * n);
  }
  ScanRows(steps, static_cast<size_t>(count), static_cast<size_t>(n), states,
           out.data());
  for (int64_t i = 0; i < count; ++i) {
    writer.Write(first + i, out[static_cast<size_t>(i)]);
  }
}

}  // namespace

absl::Status ExecuteTensorTensorScan(const ExecuteArgs& args,
                                     CoreState& state) {
  using S = slot::TensorTensorScan;
  const Tile& data0 = args.slots[S::kData0].tile;
  const Tile& data1 = args.slots[S::kData1].tile;
  const ColumnReader initial(args.slots[S::kInitial],
                             args.operands[S::kInitial], state.numerics);
  const bool matters = IsInteger(args.slots[S::kDst].tile.dtype);
  const RowReader read0(data0, state, "data0", matters);
  const RowReader read1(data1, state, "data1", matters);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(data0);
  writer.Reads(data1);
  writer.Reads(initial);
  const int64_t n = data0.free_size;
  const int64_t partitions = data0.partitions;
  const int64_t block = std::min(kBlock, partitions);
  float* const matrix0 = MatrixBuffer(state, 0, block * n);
  float* const matrix1 = MatrixBuffer(state, 1, block * n);
  float* const results = MatrixBuffer(state, 2, block * n);
  Rows rows0, rows1;
  // op0 has data0 on the left unless reversed, op1 the intermediate result.
  const std::array<ScanStep, 2> steps = {{
      {BinaryRowOf(args.attributes[S::kOp0].as<AluOp>()),
       args.attributes[S::kReverse0].boolean(), rows0.data()},
      {BinaryRowOf(args.attributes[S::kOp1].as<AluOp>()),
       !args.attributes[S::kReverse1].boolean(), rows1.data()},
  }};
  for (int64_t first = 0; first < partitions; first += block) {
    const int64_t count = std::min(block, partitions - first);
    std::array<float, kScanRows> states;
    for (int64_t i = 0; i < count; ++i) {
      states[static_cast<size_t>(i)] = initial.At(first + i);
    }
    ReadBlock(read0, first, count, matrix0, rows0);
    ReadBlock(read1, first, count, matrix1, rows1);
    ScanBlock(steps, first, count, n, results, states.data(), writer);
  }
  return absl::OkStatus();
}

absl::Status ExecuteTensorScalarCumulative(const ExecuteArgs& args,
                                           CoreState& state) {
  using S = slot::TensorScalarCumulative;
  const Tile& src = args.slots[S::kSrc].tile;
  const ColumnReader imm0(args.slots[S::kImm0], args.operands[S::kImm0],
                          state.numerics);
  const ColumnReader imm1(args.slots[S::kImm1], args.operands[S::kImm1],
                          state.numerics);
  const AluOp op1 = args.attributes[S::kOp1].as<AluOp>();
  absl::Status status =
      PrepareVectorAccumulators(args.attributes[S::kReduceCmd].as<ReduceCmd>(),
                                op1, &imm1, 0, src.partitions, state);
  if (!status.ok()) return status;
  const RowReader reader(src, state, "src",
                         IsInteger(args.slots[S::kDst].tile.dtype));
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(src);
  writer.Reads(imm0);
  const int64_t n = src.free_size;
  const int64_t partitions = src.partitions;
  const int64_t block = std::min(kBlock, partitions);
  float* const matrix = MatrixBuffer(state, 0, block * n);
  const ScalarRow row0 =
      ScalarRowOf(args.attributes[S::kOp0].as<AluOp>(), false);
  Rows rows;
  // The new value is the left operand, the accumulator the right one.
  const ScanStep step = {BinaryRowOf(op1), false, rows.data()};
  for (int64_t first = 0; first < partitions; first += block) {
    const int64_t count = std::min(block, partitions - first);
    for (int64_t i = 0; i < count; ++i) {
      float* const row = matrix + i * n;
      row0(reader.Read(first + i, row), imm0.At(first + i),
           static_cast<size_t>(n), row);
      rows[static_cast<size_t>(i)] = row;
    }
    ScanBlock({&step, 1}, first, count, n, matrix,
              state.vector_accumulators.data() + first, writer);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
