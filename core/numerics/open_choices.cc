#include "core/numerics/open_choices.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/numerics/alu.h"

namespace trnemu {
namespace {

constexpr float kTableError = 1.5e-5f;

float Canonical(float x) {
  return x == x ? x : std::numeric_limits<float>::quiet_NaN();
}

float PairwiseSum(const float* row, size_t n) {
  if (n == 1) return row[0];
  const size_t first = (n + 1) / 2;
  return PairwiseSum(row, first) + PairwiseSum(row + first, n - first);
}

float ExactSum(const float* row, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(row[i]);
  return static_cast<float>(sum);
}

// The factor and the addend's sign of op, on x * a.
struct Signs {
  float factor, addend;
};
Signs SignsOf(AluOp op, bool reverse) {
  if (op != AluOp::kSubtract) return {1, 1};
  return reverse ? Signs{-1, 1} : Signs{1, -1};
}

// A fraction of [-1, 1] (splitmix64's mixing).
float Fraction(uint64_t key) {
  uint64_t z = key * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return static_cast<float>(static_cast<int64_t>(z >> 40) - (1 << 23)) *
         0x1p-23f;
}

}  // namespace

void ReduceRowsIn(Reduction order, AluOp op, const float* const* rows,
                  size_t num_rows, size_t n, float* acc) {
  if (order == Reduction::kSequential || op != AluOp::kAdd || n == 0) {
    return ReduceRows(op, rows, num_rows, n, acc);
  }
  for (size_t r = 0; r < num_rows; ++r) {
    const float sum = order == Reduction::kPairwise ? PairwiseSum(rows[r], n)
                                                    : ExactSum(rows[r], n);
    acc[r] = Canonical(acc[r] + sum);
  }
}

void MultiplyAddRow(const float* x, float a, AluOp op, bool reverse, float b,
                    size_t n, float* out) {
  const Signs signs = SignsOf(op, reverse);
  for (size_t i = 0; i < n; ++i) {
    out[i] = Canonical(std::fma(x[i], signs.factor * a, signs.addend * b));
  }
}

void MultiplyAddRows(const float* x, float a, AluOp op, bool reverse,
                     const float* b, size_t n, float* out) {
  const Signs signs = SignsOf(op, reverse);
  for (size_t i = 0; i < n; ++i) {
    out[i] = Canonical(std::fma(x[i], signs.factor * a, signs.addend * b[i]));
  }
}

bool IsFromTable(ActFunction f) {
  switch (f) {
    case ActFunction::kCopy:
    case ActFunction::kSquare:
    case ActFunction::kRelu:
    case ActFunction::kPrelu:
    case ActFunction::kSign:
    case ActFunction::kAbs:
      return false;
    default:
      return true;
  }
}

void AddTableError(TableError draw, ActFunction f, size_t n, float* y) {
  if (draw == TableError::kNone || !IsFromTable(f)) return;
  const uint64_t key =
      static_cast<uint64_t>(draw) << 32 | static_cast<uint64_t>(f) << 16;
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(y[i])) continue;
    const uint32_t interval = std::bit_cast<uint32_t>(y[i]) >> 16;
    y[i] += y[i] * (kTableError * Fraction(key | interval));
  }
}

}  // namespace trnemu
