// TensorReduce: trailing free dimensions, sequentially in access order (on
// silicon so for fp32 add: spec/decisions.md), in fp32 before the cast.
//
// The first element starts the chain: subtract is a0 - a1 - ... [assumed:
// numerics.md 15.17]; a sum of zeros keeps the sign of the first. The logical
// operations start from their identity, so that the result is 0 or 1.
// Bitvec operations reduce zero-extended bits.
#include <algorithm>
#include <array>
#include <cstdint>

#include "core/engines/elementwise_checks.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/open_choices.h"
#include "core/numerics/unsettled.h"

namespace trnemu {
namespace {

// Partitions that are reduced side by side, and the chains of one call.
constexpr int64_t kBlock = 16;
constexpr int64_t kChains = 64;

bool IsLogical(AluOp op) {
  return op == AluOp::kLogicalAnd || op == AluOp::kLogicalOr ||
         op == AluOp::kLogicalXor;
}

// results[i] = reduction of rows[i][0..length).
void ReduceChains(AluOp op, Reduction order, const float** rows, int64_t chains,
                  int64_t length, float* results) {
  size_t skip = 0;
  if (IsLogical(op)) {
    std::fill(results, results + chains, ReduceIdentity(op));
  } else {
    if (op == AluOp::kAdd && order != Reduction::kSequential) {
      // The whole row has that order: -0 is what adds nothing to any sum.
      std::fill(results, results + chains, -0.0f);
      return ReduceRowsIn(order, op, rows, static_cast<size_t>(chains),
                          static_cast<size_t>(length), results);
    }
    skip = 1;
    for (int64_t i = 0; i < chains; ++i) results[i] = *rows[i]++;
  }
  ReduceRowsIn(order, op, rows, static_cast<size_t>(chains),
               static_cast<size_t>(length) - skip, results);
}

// Reduces a block of partitions, whose rows are at `data`, to `outputs`
// results each.
void ReduceBlock(AluOp op, Reduction order,
                 const std::array<const float*, kBlock>& data,
                 int64_t partitions, int64_t outputs, int64_t length,
                 float* results) {
  std::array<const float*, kChains> rows;
  int64_t chains = 0;
  int64_t done = 0;
  for (int64_t p = 0; p < partitions; ++p) {
    for (int64_t i = 0; i < outputs; ++i) {
      rows[static_cast<size_t>(chains++)] =
          data[static_cast<size_t>(p)] + i * length;
      if (chains < kChains) continue;
      ReduceChains(op, order, rows.data(), chains, length, results + done);
      done += chains;
      chains = 0;
    }
  }
  if (chains > 0) {
    ReduceChains(op, order, rows.data(), chains, length, results + done);
  }
}

// Sums of integers into 32-bit integers, where fp32 rounds them; maximum and
// minimum of rows with NaN.
class ReduceChecks {
 public:
  ReduceChecks(AluOp op, bool negate, const Tile& data, const Tile& dst,
               CoreState& state)
      : dst_(dst),
        state_(state),
        sums_(state.check_values && op == AluOp::kAdd && !negate &&
              IsInteger(data.dtype) && Is32BitInteger(dst.dtype)),
        data_(data),
        nan_(state.check_values &&
             (op == AluOp::kMaximum || op == AluOp::kMinimum)),
        op_(op) {}

  void Look(int64_t partition, const float* row, int64_t outputs,
            int64_t length, const float* results) {
    for (int64_t i = 0; sums_ && !found_ && i < outputs; ++i) {
      LookAtSum(partition, row + i * length, length, i, results[i]);
    }
    for (int64_t i = 0; nan_ && !found_ && i < outputs; ++i) {
      LookForNan(partition, row + i * length, length, i, results[i]);
    }
  }

 private:
  void LookAtSum(int64_t partition, const float* row, int64_t length,
                 int64_t output, float result) {
    const float share = 0x1p24f / static_cast<float>(length);
    if (!AnyMagnitude(row, share, static_cast<size_t>(length))) return;
    int64_t exact = 0;
    for (int64_t k = 0; k < length; ++k) exact += static_cast<int64_t>(row[k]);
    const bool fits = dst_.dtype == Dtype::kInt32
                          ? exact == static_cast<int32_t>(exact)
                          : exact == static_cast<uint32_t>(exact);
    if (!fits || static_cast<int64_t>(result) == exact) return;
    found_ = true;
    WarnInexactResult(state_, dst_,
                      {partition, output, static_cast<double>(exact),
                       static_cast<double>(result)});
  }
  void LookForNan(int64_t partition, const float* row, int64_t length,
                  int64_t output, float result) {
    const auto n = static_cast<size_t>(length);
    const size_t at = FirstNan(row, n);
    if (at == n || result != result) return;
    found_ = true;
    WarnNanOperand(state_, op_ == AluOp::kMaximum ? "maximum" : "minimum",
                   data_, "data",
                   {partition, output * length + static_cast<int64_t>(at)});
  }

  const Tile& dst_;
  CoreState& state_;
  const bool sums_;
  const Tile& data_;
  const bool nan_;
  const AluOp op_;
  bool found_ = false;
};

void FloatReduce(AluOp op, bool negate, const Tile& data, const Tile& dst,
                 int64_t length, RowWriter& writer, CoreState& state) {
  const RowReader reader(data, state, "data", IsInteger(dst.dtype));
  ReduceChecks checks(op, negate, data, dst, state);
  const int64_t n = data.free_size;
  const int64_t outputs = n / length;
  const int64_t partitions = data.partitions;
  const int64_t block = std::min(kBlock, partitions);
  float* const copies =
      reader.in_place() ? nullptr : MatrixBuffer(state, 0, block * n);
  float* const results = MatrixBuffer(state, 1, block * outputs);
  std::array<const float*, kBlock> rows;
  for (int64_t first = 0; first < partitions; first += block) {
    const int64_t count = std::min(block, partitions - first);
    for (int64_t p = 0; p < count; ++p) {
      rows[static_cast<size_t>(p)] =
          reader.in_place() ? reader.Read(first + p, nullptr)
                            : reader.ReadInto(first + p, copies + p * n);
    }
    ReduceBlock(op, state.numerics.reduce, rows, count, outputs, length,
                results);
    for (int64_t p = 0; p < count; ++p) {
      checks.Look(first + p, rows[static_cast<size_t>(p)], outputs, length,
                  results + p * outputs);
    }
    if (negate) {
      AluRowScalar(AluOp::kMultiply, results, -1, false,
                   static_cast<size_t>(count * outputs), results);
    }
    for (int64_t p = 0; p < count; ++p) {
      writer.Write(first + p, results + p * outputs);
    }
  }
}

void BitvecReduce(AluOp op, const Tile& data, int64_t length, RowWriter& writer,
                  CoreState& state) {
  const RowReader reader(data, state.numerics);
  const int64_t outputs = data.free_size / length;
  uint32_t* const words = BitsBuffer(state, 0, data.free_size);
  uint32_t* const results = BitsBuffer(state, 1, outputs);
  for (uint32_t p = 0; p < data.partitions; ++p) {
    reader.ReadBits(p, words);
    for (int64_t i = 0; i < outputs; ++i) {
      results[i] = ReduceWords(op, false, words + i * length,
                               static_cast<size_t>(length),
                               ReduceIdentityWord(op, false));
    }
    writer.WriteBits(p, results);
  }
}

}  // namespace

absl::Status ExecuteTensorReduce(const ExecuteArgs& args, CoreState& state) {
  using S = slot::TensorReduce;
  const Tile& data = args.slots[S::kData].tile;
  const AluOp op = args.attributes[S::kOp].as<AluOp>();
  const int64_t axes = args.attributes[S::kAxes].integer();
  int64_t length = 1;
  for (int64_t d = 0; d < axes && d < data.rank; ++d) {
    length *= data.dims[static_cast<size_t>(data.rank - 1 - d)].count;
  }
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  if (IsBitvec(op)) {
    BitvecReduce(op, data, length, writer, state);
  } else {
    const bool negate = args.attributes[S::kNegate].boolean();
    if (op == AluOp::kSubtract && length > 1 && state.check_values) {
      WarnSubtract(state, data, length);
    }
    FloatReduce(op, negate, data, args.slots[S::kDst].tile, length, writer,
                state);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
