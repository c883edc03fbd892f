#include "core/engines/elementwise_checks.h"

#include <cmath>
#include <cstring>

#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/unsettled.h"

namespace trnemu {
namespace {

// Exact for the integers up to 32 bits that operands hold, sums and products
// of which fit 64.
int64_t Exactly(AluOp op, int64_t x, int64_t y) {
  return op == AluOp::kAdd ? x + y : op == AluOp::kSubtract ? x - y : x * y;
}

// Whether an int32 or uint32 holds it: beyond, the cast saturates in any case.
bool Fits(int64_t value, Dtype dtype) {
  return dtype == Dtype::kInt32 ? value == static_cast<int32_t>(value)
                                : value == static_cast<uint32_t>(value);
}

std::string_view NameOf(AluOp op) {
  return op == AluOp::kMaximum ? "maximum" : "minimum";
}

}  // namespace

IntegerResultCheck::IntegerResultCheck(AluOp op, const Tile& a, const Tile& b,
                                       const Tile& dst, CoreState& state)
    : op_(op),
      dst_(dst),
      state_(state),
      on_(state.check_values && Is32BitInteger(dst.dtype) &&
          IsInteger(a.dtype) && IsInteger(b.dtype) &&
          (op == AluOp::kAdd || op == AluOp::kSubtract ||
           op == AluOp::kMultiply)) {}

IntegerResultCheck::~IntegerResultCheck() {
  if (found_.any()) WarnInexactResult(state_, dst_, found_);
}

void IntegerResultCheck::LookAt(int64_t partition, const float* x,
                                const float* y) {
  if (found_.any() && partition >= found_.partition) return;
  // Nearly always no magnitude is large enough: one pass says so.
  const auto n = static_cast<size_t>(dst_.free_size);
  const bool large = op_ == AluOp::kMultiply ? AnyProduct(x, y, 0x1p24f, n)
                                             : AnyMagnitude(x, 0x1p23f, n) ||
                                                   AnyMagnitude(y, 0x1p23f, n);
  if (!large) return;
  for (size_t i = 0; i < n; ++i) {
    const float rounded = op_ == AluOp::kAdd        ? x[i] + y[i]
                          : op_ == AluOp::kSubtract ? x[i] - y[i]
                                                    : x[i] * y[i];
    if (!(std::fabs(rounded) < 0x1p62f)) continue;  // beyond any dst
    const int64_t exact =
        Exactly(op_, static_cast<int64_t>(x[i]), static_cast<int64_t>(y[i]));
    if (static_cast<int64_t>(rounded) == exact || !Fits(exact, dst_.dtype)) {
      continue;
    }
    found_ = {partition, static_cast<int64_t>(i), static_cast<double>(exact),
              static_cast<double>(rounded)};
    return;
  }
}

NanCheck::~NanCheck() {
  if (!found_.any()) return;
  WarnNanOperand(state_, NameOf(op_), *tile_, operand_, found_);
}

void NanCheck::Find(const Tile& tile, std::string_view operand,
                    int64_t partition, const float* x, const float* y,
                    float number) {
  if (found_.any() && partition >= found_.partition) return;
  const auto n = static_cast<size_t>(tile.free_size);
  size_t at = FirstNan(x, n);
  while (at < n && std::isnan(y != nullptr ? y[at] : number)) {
    at += 1 + FirstNan(x + at + 1, n - at - 1);
  }
  if (at >= n) return;
  tile_ = &tile;
  operand_ = operand;
  found_ = {partition, static_cast<int64_t>(at)};
}

Bf16Check::Bf16Check(AluOp op, const Tile& a, const Tile& b, CoreState& state)
    : op_(op),
      a_(a),
      b_(b),
      state_(state),
      on_(state.check_values &&
          (op == AluOp::kAdd || op == AluOp::kSubtract ||
           op == AluOp::kMultiply || op == AluOp::kMaximum ||
           op == AluOp::kMinimum)),
      nan_(op, state) {}

const std::byte* Bf16Check::Keep(size_t operand, const std::byte* row,
                                 const std::byte* dst) {
  if (!on_ || row != dst) return row;
  uint32_t* const copy = BitsBuffer(state_, operand, a_.free_size);
  std::memcpy(copy, row, 2 * static_cast<size_t>(a_.free_size));
  return reinterpret_cast<const std::byte*>(copy);
}

void Bf16Check::LookAt(int64_t partition, const std::byte* x,
                       const std::byte* y, const std::byte* dst) {
  const auto n = static_cast<size_t>(a_.free_size);
  const bool largest = op_ == AluOp::kMaximum || op_ == AluOp::kMinimum;
  // An overflow shows as infinity, maximum's NaN in an operand.
  if (!largest && FirstBf16NotFinite(dst, n) == n) return;
  if (largest && FirstBf16NotFinite(x, n) == n &&
      FirstBf16NotFinite(y, n) == n) {
    return;
  }
  float* const row_x = RowBuffer(state_, 0, a_.free_size);
  float* const row_y = RowBuffer(state_, 1, a_.free_size);
  WidenRow(Dtype::kBFloat16, x, 2, n, state_.numerics, row_x);
  WidenRow(Dtype::kBFloat16, y, 2, n, state_.numerics, row_y);
  nan_.Look(a_, "data1", partition, row_x, row_y);
  nan_.Look(b_, "data2", partition, row_y, row_x);
  if (largest || (found_.any() && partition >= found_.partition)) return;
  BinaryRowOf(op_)(row_x, row_y, n, row_x);
  const size_t at = FirstOverflow(Dtype::kBFloat16, row_x, n);
  if (at == n) return;
  found_ = {partition, static_cast<int64_t>(at),
            static_cast<double>(row_x[at])};
}

void IntegerOverflowCheck::Look(const uint32_t* x, const uint32_t* y,
                                size_t n) {
  const int64_t partition = partition_++;
  if (reported_) return;
  const size_t at = FirstIntegerOverflow(op_, is_signed_, x, y, n);
  if (at == n) return;
  reported_ = true;
  const int64_t a = is_signed_ ? static_cast<int32_t>(x[at]) : int64_t{x[at]};
  const int64_t b = is_signed_ ? static_cast<int32_t>(y[at]) : int64_t{y[at]};
  // A product of two words of 32 bits may need 64 unsigned ones; a double
  // says how large it is.
  const double exact = op_ == AluOp::kMultiply
                           ? static_cast<double>(a) * static_cast<double>(b)
                           : static_cast<double>(Exactly(op_, a, b));
  const uint32_t low = op_ == AluOp::kAdd        ? x[at] + y[at]
                       : op_ == AluOp::kSubtract ? x[at] - y[at]
                                                 : x[at] * y[at];
  double taken = is_signed_ ? static_cast<double>(static_cast<int32_t>(low))
                            : static_cast<double>(low);
  if (state_.numerics.integer_overflow == IntegerOverflow::kSaturate) {
    const double top = is_signed_ ? 0x1p31 - 1 : 0x1p32 - 1;
    const double bottom = is_signed_ ? -0x1p31 : 0;
    taken = exact > 0 ? top : bottom;
  }
  WarnIntegerOverflow(state_, "gpsimd's 32-bit arithmetic",
                      {partition, static_cast<int64_t>(at), exact, taken});
}

ReciprocalCheck::~ReciprocalCheck() {
  if (found_.any()) WarnReciprocal(state_, *data_, found_);
}

void ReciprocalCheck::Look(const Tile& data, int64_t partition,
                           const float* x) {
  if (!state_.check_values) return;
  if (found_.any() && partition >= found_.partition) return;
  const auto n = static_cast<size_t>(data.free_size);
  const size_t at = FirstWithoutReciprocal(x, n);
  if (at == n) return;
  data_ = &data;
  found_ = {partition, static_cast<int64_t>(at), static_cast<double>(x[at]),
            static_cast<double>(1 / x[at])};
}

void LookForShifts(const Tile& amounts, std::string_view operand,
                   unsigned width, CoreState& state) {
  if (!state.check_values) return;
  const RowReader reader(amounts, state.numerics);
  const auto n = static_cast<size_t>(amounts.free_size);
  uint32_t* const words = BitsBuffer(state, 2, amounts.free_size);
  for (uint32_t p = 0; p < amounts.partitions; ++p) {
    reader.ReadBits(p, words);
    const size_t at = FirstAtLeast(words, width, n);
    if (at == n) continue;
    return WarnShift(
        state, operand, amounts, width,
        {p, static_cast<int64_t>(at), static_cast<double>(words[at])});
  }
}

}  // namespace trnemu
