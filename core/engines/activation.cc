// Activate: y = f(data * scale + bias) in fp32, dst = cast(y), and the running
// sums of the scalar engine; ReadAccumulator.
//
// The product and the sum are rounded separately unless numerics scale_bias is
// fused [assumed: numerics.md 15.6]. The reduction sums y before the cast,
// ascending, and adds that sum once to the accumulator (spec/decisions.md).
// A lane is a partition counted from the view's first one [assumed].
#include "core/numerics/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"

namespace trnemu {
namespace {

// Partitions whose sums run side by side.
constexpr int64_t kBlock = 16;

bool HasLimitedRange(ActFunction f) {
  return Info(f).low > -kInfinity || Info(f).high < kInfinity ||
         Info(f).magnitude;
}

void WarnAt(const Tile& data, int64_t partition, int64_t element, float value,
            Diagnostic d, CoreState& state) {
  const int64_t where = data.first_partition + partition;
  d.category = Category::kUnspecified;
  d.operand = "data";
  d.details.insert(d.details.begin(), {{"partition", absl::StrCat(where)},
                                       {"element", absl::StrCat(element)},
                                       {"value", absl::StrCat(value)}});
  Warn(state, std::move(d));
}

void WarnOutsideRange(ActFunction f, const Tile& data, int64_t partition,
                      int64_t element, float value, CoreState& state) {
  const ActInfo& info = Info(f);
  const std::string name(info.name);
  const std::string range = absl::StrCat(info.magnitude ? "+-[" : "[", info.low,
                                         ", ", info.high, "]");
  Diagnostic d;
  d.id = "activation.outside_valid_range";
  d.message = absl::StrCat(name, " has the input ", value, " at partition ",
                           data.first_partition + partition, ", element ",
                           element, ", outside its valid range ", range,
                           ", where the result is unspecified");
  d.details = {{"function", name}, {"range", range}};
  d.remedy = f == ActFunction::kSin
                 ? "reduce the argument to [-pi, pi] before the activation"
                 : "keep data * scale + bias inside the range";
  d.reference = "nki/api/nki.api.shared.rst:143";
  WarnAt(data, partition, element, value, std::move(d), state);
}

void WarnPreluSlope(const Tile& data, int64_t partition, int64_t element,
                    float value, CoreState& state) {
  Diagnostic d;
  d.id = "activation.prelu_slope";
  d.message =
      absl::StrCat("prelu has the negative input ", value, " at partition ",
                   data.first_partition + partition, ", element ", element,
                   ", but activation has no slope; it was taken as 0");
  d.remedy = "use activate2, which has relu_param, or relu";
  d.reference = "nki/api/nki/language/__init__.py:83";
  WarnAt(data, partition, element, value, std::move(d), state);
}

// The first input of a row for which f is not specified, reported once.
void ReportUnspecified(ActFunction f, const Tile& data, int64_t partition,
                       const float* x, CoreState& state, bool& reported) {
  const size_t n = static_cast<size_t>(data.free_size);
  if (f == ActFunction::kPrelu) {
    const float* const found =
        std::find_if(x, x + n, [](float value) { return value < 0; });
    if (found == x + n) return;
    reported = true;
    WarnPreluSlope(data, partition, found - x, *found, state);
    return;
  }
  const size_t first = FirstOutsideValidRange(f, x, n);
  if (first == n) return;
  reported = true;
  WarnOutsideRange(f, data, partition, static_cast<int64_t>(first), x[first],
                   state);
}

// out = x * scale + bias; returns x if that is the same.
const float* ScaleAndBias(const float* x, float scale, bool has_bias,
                          float bias, size_t n, ScaleBias rounding,
                          float* out) {
  if (rounding == ScaleBias::kFused && has_bias) {
    for (size_t i = 0; i < n; ++i) out[i] = std::fma(x[i], scale, bias);
    return out;
  }
  if (scale != 1) {
    AluRowScalar(AluOp::kMultiply, x, scale, false, n, out);
    x = out;
  }
  if (!has_bias) return x;
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
        has_bias_(args.slots[S::kBias].kind != Operand::Kind::kAbsent),
        bias_(args.slots[S::kBias], args.operands[S::kBias], state.numerics),
        scale_(args.slots[S::kScale], args.operands[S::kScale], state.numerics),
        reader_(data_, state.numerics),
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
    const float* const x = ScaleAndBias(data, scale, has_bias_, bias, n,
                                        state_.numerics.scale_bias, y);
    if (checks_ && !reported_) {
      ReportUnspecified(function_, data_, partition, x, state_, reported_);
    }
    ActivationRow(function_, x, n, y);
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
    const int64_t n = data_.free_size;
    const int64_t partitions = data_.partitions;
    float* const buffers =
        MatrixBuffer(state_, 0, std::min(kBlock, partitions) * n);
    std::array<const float*, kBlock> rows;
    for (int64_t first = 0; first < partitions; first += kBlock) {
      const int64_t count = std::min(kBlock, partitions - first);
      std::array<float, kBlock> sums{};
      for (int64_t i = 0; i < count; ++i) {
        rows[static_cast<size_t>(i)] = Row(first + i, buffers + i * n);
      }
      ReduceRows(AluOp::kAdd, rows.data(), static_cast<size_t>(count),
                 static_cast<size_t>(n), sums.data());
      AluRows(AluOp::kAdd, state_.scalar_accumulators.data() + first,
              sums.data(), static_cast<size_t>(count),
              state_.scalar_accumulators.data() + first);
    }
  }

 private:
  using S = slot::Activate;
  CoreState& state_;
  const Tile& data_;
  const ActFunction function_;
  const bool checks_;
  bool reported_ = false;
  const bool has_bias_;
  const ColumnReader bias_;
  const ColumnReader scale_;
  const RowReader reader_;
  RowWriter writer_;
};

// Accumulators outlive a program: what nothing has reset is left over.
absl::Status CheckAccumulators(uint32_t lanes, std::string_view use,
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

}  // namespace

absl::Status ExecuteActivate(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Activate;
  const ReduceCmd command = args.attributes[S::kReduceCmd].as<ReduceCmd>();
  const uint32_t lanes = args.slots[S::kData].tile.partitions;
  if (command == ReduceCmd::kReset || command == ReduceCmd::kResetReduce) {
    std::fill_n(state.scalar_accumulators.begin(), lanes, 0.0f);
    std::fill_n(state.scalar_accumulators_set.begin(), lanes, true);
  } else if (command == ReduceCmd::kReduce) {
    absl::Status status =
        CheckAccumulators(lanes, "reduce_cmd=reduce adds to", state);
    if (!status.ok()) return status;
  }
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
      CheckAccumulators(dst.partitions, "reduce_res reads", state);
  if (!status.ok()) return status;
  RowWriter writer(dst, "dst", state);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    writer.Write(p, &state.scalar_accumulators[p]);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
