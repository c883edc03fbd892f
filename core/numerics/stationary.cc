// Loading the stationary tile, and cutting fp32 values in halves.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "core/numerics/matmul.h"

namespace trnemu {
namespace {

float Hi(float x) {
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xFFFFF000u);
}
float Lo(float x) { return std::isfinite(x) ? x - Hi(x) : 0.0f; }
float FromBf16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

}  // namespace

template <typename T, typename Convert>
void Stationary::Pack(const T* rows, size_t row_stride, Convert convert) {
  const size_t full = FullBlocks(num_columns_) * kBlockColumns;
  for (size_t m = 0, block; m < num_columns_; m += block) {
    block = m < full ? kBlockColumns : TailBlock(num_columns_ - m);
    const size_t valid = std::min(block, num_columns_ - m);
    float* to = values_ + m * num_rows_;
    const T* from = rows + m;
    if (m < full && m + 8 <= num_columns_) {
      // 8 is a vector; what is too much is overwritten by the next row.
      for (size_t k = 0; k < num_rows_; ++k, to += block, from += row_stride) {
        for (size_t i = 0; i < 8; ++i) to[i] = convert(from[i]);
      }
      continue;
    }
    for (size_t k = 0; k < num_rows_; ++k, to += block, from += row_stride) {
      for (size_t i = 0; i < valid; ++i) to[i] = convert(from[i]);
      std::fill(to + valid, to + block, 0.0f);
    }
  }
}

void Stationary::SetShape(size_t num_rows, size_t num_columns,
                          size_t group_rows) {
  assert(num_rows <= kMaxRows && num_columns <= kMaxColumns && group_rows > 0);
  num_rows_ = num_rows;
  num_columns_ = num_columns;
  group_rows_ = group_rows;
}

float Stationary::At(size_t row, size_t column) const {
  const size_t full = FullBlocks(num_columns_) * kBlockColumns;
  size_t begin = column < full ? column / kBlockColumns * kBlockColumns : full;
  size_t block =
      column < full ? kBlockColumns : TailBlock(num_columns_ - begin);
  while (column >= begin + block) {
    begin += block;
    block = TailBlock(num_columns_ - begin);
  }
  return values_[begin * num_rows_ + row * block + (column - begin)];
}

void Stationary::Load(const float* rows, size_t row_stride, size_t num_rows,
                      size_t num_columns, size_t group_rows) {
  SetShape(num_rows, num_columns, group_rows);
  Pack(rows, row_stride, [](float x) { return x; });
}

void Stationary::LoadBf16(const uint16_t* rows, size_t row_stride,
                          size_t num_rows, size_t num_columns,
                          size_t group_rows) {
  SetShape(num_rows, num_columns, group_rows);
  Pack(rows, row_stride, [](uint16_t bits) { return FromBf16(bits); });
}

void Stationary::LoadHalf(Fp32Half half, MatmulRule rule, const float* rows,
                          size_t row_stride, size_t num_rows,
                          size_t num_columns) {
  const bool lo = half == Fp32Half::kLo;
  if (rule != MatmulRule::kSilicon) {
    Load(rows, row_stride, lo ? 0 : num_rows, num_columns);
    return;
  }
  SetShape(num_rows, num_columns, kMatmulGroupRows);
  if (lo) {
    Pack(rows, row_stride, [](float x) { return Lo(x); });
  } else {
    Pack(rows, row_stride, [](float x) { return Hi(x); });
  }
}

void SplitHalves(const float* x, size_t n, float* hi, float* lo) {
  for (size_t i = 0; i < n; ++i) {
    hi[i] = Hi(x[i]);
    lo[i] = Lo(x[i]);
  }
}

}  // namespace trnemu
