// Sequential reductions along rows, several rows abreast.
//
// A chain of fp32 additions is bound by their latency, so blocks of columns
// are transposed and a vector lane, rather than a vector, follows each row.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/numerics/alu.h"
#include "core/numerics/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/reduce.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "core/numerics/alu_ops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kLanes = 4;  // rows of a vector, and columns of a block
using Four = hn::FixedTag<float, kLanes>;
using FourV = hn::Vec<Four>;

// acc op the four columns from `column` of four rows, in order.
template <class Op>
HWY_INLINE FourV FoldBlock(Op op, const float* const* rows, size_t column,
                           FourV acc) {
  const Four d;
  const hn::Repartition<uint64_t, Four> d64;
  const auto r0 = hn::LoadU(d, rows[0] + column);
  const auto r1 = hn::LoadU(d, rows[1] + column);
  const auto r2 = hn::LoadU(d, rows[2] + column);
  const auto r3 = hn::LoadU(d, rows[3] + column);
  // Pairs of rows: columns 0, 1 and columns 2, 3.
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  acc = op(d, acc, hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)));
  acc = op(d, acc, hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)));
  acc = op(d, acc, hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)));
  return op(d, acc, hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)));
}

// The same for one column.
template <class Op>
HWY_INLINE FourV FoldColumn(Op op, const float* const* rows, size_t column,
                            FourV acc) {
  const Four d;
  HWY_ALIGN const float values[kLanes] = {rows[0][column], rows[1][column],
                                          rows[2][column], rows[3][column]};
  return op(d, acc, hn::Load(d, values));
}

// kGroups groups of four rows abreast.
template <size_t kGroups, class Op>
void FoldRows(Op op, const float* const* rows, size_t n, float* acc) {
  const Four d;
  FourV sums[kGroups];
  for (size_t g = 0; g < kGroups; ++g) sums[g] = hn::LoadU(d, acc + 4 * g);
  size_t column = 0;
  for (; column + kLanes <= n; column += kLanes) {
    for (size_t g = 0; g < kGroups; ++g) {
      sums[g] = FoldBlock(op, rows + 4 * g, column, sums[g]);
    }
  }
  for (; column < n; ++column) {
    for (size_t g = 0; g < kGroups; ++g) {
      sums[g] = FoldColumn(op, rows + 4 * g, column, sums[g]);
    }
  }
  for (size_t g = 0; g < kGroups; ++g) {
    hn::StoreU(Op::kCanNan ? CanonicalNan(d, sums[g]) : sums[g], d,
               acc + 4 * g);
  }
}

struct VisitReduce {
  const float* const* rows;
  size_t num_rows;
  size_t n;
  float* acc;

  template <class Op>
  HWY_INLINE void operator()(Op op) const {
    size_t r = 0;
    for (; r + 16 <= num_rows; r += 16) FoldRows<4>(op, rows + r, n, acc + r);
    for (; r + 4 <= num_rows; r += 4) FoldRows<1>(op, rows + r, n, acc + r);
    if (r == num_rows) return;
    // The last rows, with the last one repeated to make four.
    const float* last[kLanes];
    float last_acc[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      const size_t row = std::min(r + i, num_rows - 1);
      last[i] = rows[row];
      last_acc[i] = acc[row];
    }
    FoldRows<1>(op, last, n, last_acc);
    std::copy(last_acc, last_acc + (num_rows - r), acc + r);
  }
};

// What MaximumOp and MinimumOp give where the first operand is no NaN: then
// one comparison leaves NaNs out and takes the second operand of a tie.
struct MaximumOfNumbersOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V acc, V x) const {
    return hn::IfThenElse(hn::Ge(x, acc), x, acc);
  }
};

struct MinimumOfNumbersOp {
  static constexpr bool kCanNan = false;
  template <class DF, class V>
  HWY_INLINE V operator()(DF, V acc, V x) const {
    return hn::IfThenElse(hn::Le(x, acc), x, acc);
  }
};

void ReduceKernel(AluOp op, const float* const* rows, size_t num_rows, size_t n,
                  float* acc) {
  if (n == 0) return;
  const bool numbers =
      std::none_of(acc, acc + num_rows, [](float x) { return std::isnan(x); });
  if (numbers && op == AluOp::kMaximum) {
    return VisitReduce{rows, num_rows, n, acc}(MaximumOfNumbersOp());
  }
  if (numbers && op == AluOp::kMinimum) {
    return VisitReduce{rows, num_rows, n, acc}(MinimumOfNumbersOp());
  }
  VisitBinary(op, VisitReduce{rows, num_rows, n, acc});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu {

HWY_EXPORT(ReduceKernel);

void ReduceRows(AluOp op, const float* const* rows, size_t num_rows, size_t n,
                float* acc) {
  HWY_DYNAMIC_DISPATCH(ReduceKernel)(op, rows, num_rows, n, acc);
}

float ReduceIdentity(AluOp op) {
  switch (op) {
    case AluOp::kMultiply:
    case AluOp::kLogicalAnd:
      return 1.0f;
    case AluOp::kMaximum:
      return -std::numeric_limits<float>::infinity();
    case AluOp::kMinimum:
    case AluOp::kAbsMin:
      return std::numeric_limits<float>::infinity();
    default:
      return 0.0f;
  }
}

}  // namespace trnemu
#endif  // HWY_ONCE
