#include "core/numerics/matmul.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

// The kernels want a fused multiply-add and vectors of a fixed size. The
// baseline, -march=x86-64-v3, does not name AES; without the second line
// Highway would think it below AVX2.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (~(HWY_AVX2 | HWY_AVX3 | HWY_NEON))
#endif
#ifndef HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_PCLMUL_AES
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/matmul.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// A panel is kWidth columns of the moving tile; a micro-tile is a block of the
// stationary tile's columns (at most 6) times a panel, its sums in registers:
// 12 of 16 vectors on AVX2, 12 of 32 on AVX-512, 24 of 32 on NEON.
constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kVectors = kLanes >= 8 ? 2 : 4;
constexpr size_t kWidth = kVectors * kLanes;
// Columns packed at a time: a cache line of bfloat16.
constexpr size_t kPacked = 32;
static_assert(kPacked % kWidth == 0);

// What is moved, and how kLanes elements of it become fp32.
struct Widened {
  static HWY_INLINE V Load(const float* p) { return hn::LoadU(D(), p); }
};

struct Bf16 {
  static HWY_INLINE V Load(const uint16_t* p) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<uint32_t, D> d32;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, p));
    return hn::BitCast(D(), hn::ShiftLeft<16>(bits));
  }
};

HWY_INLINE V HiHalf(V x) {
  const hn::RebindToUnsigned<D> du;
  const auto kept = hn::And(hn::BitCast(du, x), hn::Set(du, 0xFFFFF000u));
  return hn::IfThenElse(hn::IsFinite(x), hn::BitCast(D(), kept), x);
}

HWY_INLINE V LoHalf(V x) {
  return hn::IfThenElseZero(hn::IsFinite(x), hn::Sub(x, HiHalf(x)));
}

struct Hi {
  static HWY_INLINE V Load(const float* p) { return HiHalf(hn::LoadU(D(), p)); }
};

struct Lo {
  static HWY_INLINE V Load(const float* p) { return LoHalf(hn::LoadU(D(), p)); }
};

template <typename T>
struct Moving {
  const T* data;
  size_t stride;
  size_t num_columns;
};

// Writes num_columns columns of the moving tile, from `column`, as panels:
// num_rows rows of kWidth floats each. Columns past the last become 0.
template <class Source, typename T>
void PackPanels(const Moving<T>& moving, size_t num_rows, size_t column,
                size_t num_columns, float* HWY_RESTRICT panels) {
  T padded[kPacked] = {};
  const size_t end = (num_columns + kWidth - 1) / kWidth * kWidth;
  for (size_t k = 0; k < num_rows; ++k) {
    const T* row = moving.data + k * moving.stride + column;
    if (num_columns < end) {
      std::memcpy(padded, row, num_columns * sizeof(T));
      row = padded;
    }
    for (size_t n = 0; n < end; n += kWidth) {
      float* to = panels + n * num_rows + k * kWidth;
      for (size_t v = 0; v < kWidth; v += kLanes) {
        hn::Store(Source::Load(row + n + v), D(), to + v);
      }
    }
  }
}

HWY_INLINE V Canonical(V x) {
  const hn::RebindToUnsigned<D> du;
  const V nan = hn::BitCast(D(), hn::Set(du, 0x7FC00000u));
  return hn::IfThenElse(hn::IsNaN(x), nan, x);
}

template <PsumWrite kWrite>
HWY_INLINE void WriteVector(float* psum, V sum) {
  if constexpr (kWrite == PsumWrite::kAccumulate) {
    sum = hn::Add(hn::LoadU(D(), psum), sum);
  }
  hn::StoreU(Canonical(sum), D(), psum);
}

template <PsumWrite kWrite>
HWY_INLINE void WriteRow(float* HWY_RESTRICT psum,
                         const float* HWY_RESTRICT sums, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    WriteVector<kWrite>(psum + i, hn::LoadU(D(), sums + i));
  }
  if (i == n) return;
  float old[kLanes] = {};
  float add[kLanes] = {};
  std::memcpy(old, psum + i, (n - i) * sizeof(float));
  std::memcpy(add, sums + i, (n - i) * sizeof(float));
  WriteVector<kWrite>(old, hn::LoadU(D(), add));
  std::memcpy(psum + i, old, (n - i) * sizeof(float));
}

HWY_INLINE void Write(PsumWrite write, float* psum, const float* sums,
                      size_t n) {
  if (write == PsumWrite::kOverwrite) {
    WriteRow<PsumWrite::kOverwrite>(psum, sums, n);
  } else {
    WriteRow<PsumWrite::kAccumulate>(psum, sums, n);
  }
}

// Where a kernel's sums go: rows of kWidth, a row per stationary column.
struct Output {
  float* data;
  size_t stride;
  PsumWrite write;
  // Rows of kWidth that the sums are added to before they are written.
  const float* lo = nullptr;

  HWY_INLINE void Prefetch(size_t rows) const {
    for (size_t r = 0; r < rows; ++r) hwy::Prefetch(data + r * stride);
  }

  HWY_INLINE void PutRows(const float* sums, size_t rows) const {
    if (write == PsumWrite::kAccumulate) {
      PutRows<PsumWrite::kAccumulate>(sums, rows);
    } else {
      PutRows<PsumWrite::kOverwrite>(sums, rows);
    }
  }

  template <PsumWrite kWrite>
  HWY_INLINE void PutRows(const float* sums, size_t rows) const {
    for (size_t i = 0; i < rows * kWidth; i += kLanes) {
      V sum = hn::Load(D(), sums + i);
      if (lo != nullptr) sum = hn::Add(hn::Load(D(), lo + i), sum);
      WriteVector<kWrite>(data + i / kWidth * stride + i % kWidth, sum);
    }
  }

  Output Below(size_t rows) const {
    return {data + rows * stride, stride, write,
            lo == nullptr ? nullptr : lo + rows * kWidth};
  }
};

// The sums of a micro-tile of kRows x kVectors vectors, in registers. The
// indices are constants everywhere, or compilers would keep them in memory.
template <size_t kRows, typename = std::make_index_sequence<kRows * kVectors>>
class MicroTile;

template <size_t kRows, size_t... kI>
class MicroTile<kRows, std::index_sequence<kI...>> {
 public:
  HWY_INLINE MicroTile() { ((sums_[kI] = hn::Zero(D())), ...); }

  // One step of the chains: sums[r][n] += a[r] * b[n], fused.
  HWY_INLINE void Step(const float* a, const float* b) {
    ((sums_[kI] =
          hn::MulAdd(hn::Set(D(), a[kI / kVectors]),
                     hn::Load(D(), b + kI % kVectors * kLanes), sums_[kI])),
     ...);
  }
  HWY_INLINE void And(V mask) { ((sums_[kI] = hn::And(sums_[kI], mask)), ...); }
  // To `tile`, rows of kWidth.
  HWY_INLINE void Store(float* tile) const {
    (hn::Store(sums_[kI], D(), tile + kI * kLanes), ...);
  }
  // tile = tile + sums.
  HWY_INLINE void AddTo(float* tile) const {
    (hn::Store(hn::Add(hn::Load(D(), tile + kI * kLanes), sums_[kI]), D(),
               tile + kI * kLanes),
     ...);
  }

 private:
  V sums_[kRows * kVectors];
};

constexpr size_t kTileSize = Stationary::kBlockColumns * kWidth;

// A kernel multiplies num_blocks blocks of kRows stationary columns, which
// begin at a, by a panel. `tile` is scratch, kBlockColumns rows of kWidth.
using Kernel = void (*)(const float* a, const float* panel, size_t num_rows,
                        size_t group_rows, size_t num_blocks, float* tile,
                        Output out);

// The groups' chains, added in ascending order; +0 without rows. A group's
// chains start from the sums of the group before AND 0: were they independent,
// an out-of-order core would run ahead with them while that group waits, which
// costs 7 % (Zen 3).
template <size_t kRows>
HWY_NOINLINE void GroupSums(const float* a, const float* panel, size_t num_rows,
                            size_t group_rows, size_t num_blocks, float* tile,
                            Output out) {
  volatile float opaque_zero = 0.0f;  // the compiler must not see through it
  MicroTile<kRows> chains;
  for (size_t i = 0; i < num_blocks; ++i, out = out.Below(kRows)) {
    out.Prefetch(kRows);
    const float* b = panel;
    size_t start = 0;
    do {
      const size_t end = std::min(start + group_rows, num_rows);
      for (size_t k = start; k < end; ++k, a += kRows, b += kWidth) {
        chains.Step(a, b);
      }
      if (start == 0) {
        chains.Store(tile);
      } else {
        chains.AddTo(tile);
      }
      chains.And(hn::Set(D(), opaque_zero));
      start = end;
    } while (start < num_rows);
    out.PutRows(tile, kRows);
  }
}

// The ascending fp64 sum, in which products are exact, rounded once.
template <size_t kRows>
HWY_NOINLINE void ExactSums(const float* a, const float* panel, size_t num_rows,
                            size_t /*group_rows*/, size_t num_blocks,
                            float* tile, Output out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  for (size_t i = 0; i < num_blocks; ++i, out = out.Below(kRows)) {
    for (size_t n = 0; n < kWidth; n += hn::MaxLanes(d)) {
      hn::Vec<decltype(d)> sums[kRows];
      for (auto& sum : sums) sum = hn::Zero(d);
      for (size_t k = 0; k < num_rows; ++k) {
        const auto moving =
            hn::PromoteTo(d, hn::Load(half, panel + k * kWidth + n));
        for (size_t r = 0; r < kRows; ++r) {
          const auto stationary = hn::Set(d, double{a[k * kRows + r]});
          sums[r] = hn::MulAdd(stationary, moving, sums[r]);
        }
      }
      for (size_t r = 0; r < kRows; ++r) {
        hn::Store(hn::DemoteTo(half, sums[r]), half, tile + r * kWidth + n);
      }
    }
    out.PutRows(tile, kRows);
    a += kRows * num_rows;
  }
}

// A kernel for each width of a block: 1, 2, 4, 6 columns.
struct Kernels {
  Kernel one, two, four, six;
  Kernel For(size_t columns) const {
    return columns == 6 ? six : columns == 4 ? four : columns == 2 ? two : one;
  }
};
constexpr Kernels kGroupSums = {GroupSums<1>, GroupSums<2>, GroupSums<4>,
                                GroupSums<6>};
constexpr Kernels kExactSums = {ExactSums<1>, ExactSums<2>, ExactSums<4>,
                                ExactSums<6>};

// Stationary columns from m on, one block, by one panel of which num_columns
// are written: through a tile that has room for what is not.
struct PanelJob {
  const Stationary& stationary;
  const Kernels& kernels;
  size_t group_rows;
  const float* panel;
  size_t num_columns;

  // num_blocks blocks, none of them padded, by a whole panel.
  void RunBlocks(size_t m, size_t block, size_t num_blocks,
                 const Output& out) const {
    HWY_ALIGN float tile[kTileSize];
    kernels.For(block)(stationary.values() + m * stationary.num_rows(), panel,
                       stationary.num_rows(), group_rows, num_blocks, tile,
                       out.Below(m));
  }

  // One block, of which `valid` columns are written.
  void RunPart(size_t m, size_t block, size_t valid, const Output& out) const {
    HWY_ALIGN float sums[kTileSize];
    HWY_ALIGN float tile[kTileSize];
    const Output here = out.Below(m);
    kernels.For(block)(stationary.values() + m * stationary.num_rows(), panel,
                       stationary.num_rows(), group_rows, 1, tile,
                       {sums, kWidth, PsumWrite::kOverwrite, here.lo});
    for (size_t r = 0; r < valid; ++r) {
      Write(here.write, here.data + r * here.stride, sums + r * kWidth,
            num_columns);
    }
  }

  void Run(const Output& out) const {
    const size_t end = stationary.num_columns();
    const size_t six = Stationary::kBlockColumns;
    const size_t full = Stationary::FullBlocks(end);
    const bool whole = num_columns == kWidth;
    size_t m = 0;
    if (whole && full > 0) {
      RunBlocks(0, six, full, out);
      m = full * six;
    }
    while (m < end) {
      const size_t left = end - m;
      const size_t block = m < full * six ? six : Stationary::TailBlock(left);
      const size_t valid = std::min(block, left);
      if (whole && valid == block) {
        RunBlocks(m, block, 1, out);
      } else {
        RunPart(m, block, valid, out);
      }
      m += valid;
    }
  }
};

template <class Source, typename T>
void Multiply(const Stationary& stationary, const Moving<T>& moving,
              MatmulRule rule, const Output& psum) {
  HWY_ALIGN float panels[Stationary::kMaxRows * kPacked];
  const size_t rows = stationary.num_rows();
  const size_t group_rows =
      rule == MatmulRule::kSilicon ? stationary.group_rows() : rows;
  const Kernels& kernels = rule == MatmulRule::kExact ? kExactSums : kGroupSums;
  for (size_t start = 0; start < moving.num_columns; start += kPacked) {
    const size_t columns = std::min(kPacked, moving.num_columns - start);
    PackPanels<Source>(moving, rows, start, columns, panels);
    for (size_t n = 0; n < columns; n += kWidth) {
      const PanelJob job = {stationary, kernels, group_rows, panels + n * rows,
                            std::min(kWidth, columns - n)};
      job.Run({psum.data + start + n, psum.stride, psum.write});
    }
  }
}

// The pass of an fp32 matmul: the sums of the moving tile's lo halves, to which
// those of its hi halves are added.
void MultiplyHalves(const Stationary& stationary, const Moving<float>& moving,
                    const Output& psum) {
  HWY_ALIGN float panel[Stationary::kMaxRows * kWidth];
  HWY_ALIGN float lo[Stationary::kMaxColumns * kWidth] = {};
  const size_t rows = stationary.num_rows();
  const size_t group_rows = stationary.group_rows();
  for (size_t n = 0; n < moving.num_columns; n += kWidth) {
    const size_t columns = std::min(kWidth, moving.num_columns - n);
    PackPanels<Lo>(moving, rows, n, columns, panel);
    PanelJob{stationary, kGroupSums, group_rows, panel, kWidth}.Run(
        {lo, kWidth, PsumWrite::kOverwrite});
    PackPanels<Hi>(moving, rows, n, columns, panel);
    PanelJob{stationary, kGroupSums, group_rows, panel, columns}.Run(
        {psum.data + n, psum.stride, psum.write, lo});
  }
}

void MultiplyFp32(const Stationary& stationary, const float* moving,
                  size_t moving_stride, size_t num_columns, MatmulRule rule,
                  float* psum, size_t psum_stride, PsumWrite write) {
  Multiply<Widened, float>(stationary, {moving, moving_stride, num_columns},
                           rule, {psum, psum_stride, write});
}

void MultiplyBf16(const Stationary& stationary, const uint16_t* moving,
                  size_t moving_stride, size_t num_columns, MatmulRule rule,
                  float* psum, size_t psum_stride, PsumWrite write) {
  Multiply<Bf16, uint16_t>(stationary, {moving, moving_stride, num_columns},
                           rule, {psum, psum_stride, write});
}

void MultiplyFp32Halves(const Stationary& stationary, const float* moving,
                        size_t moving_stride, size_t num_columns, float* psum,
                        size_t psum_stride, PsumWrite write) {
  MultiplyHalves(stationary, {moving, moving_stride, num_columns},
                 {psum, psum_stride, write});
}

void Accumulate(float* psum, const float* sums, size_t n) {
  WriteRow<PsumWrite::kAccumulate>(psum, sums, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu {
namespace {

HWY_EXPORT(MultiplyFp32);
HWY_EXPORT(MultiplyBf16);
HWY_EXPORT(MultiplyFp32Halves);
HWY_EXPORT(Accumulate);

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
  float row[kMaxColumns + kBlockColumns] = {};
  const size_t full = FullBlocks(num_columns_);
  for (size_t k = 0; k < num_rows_; ++k) {
    const T* from = rows + k * row_stride;
    for (size_t m = 0; m < num_columns_; ++m) row[m] = convert(from[m]);
    float* to = values_ + k * kBlockColumns;
    for (size_t i = 0; i < full; ++i, to += num_rows_ * kBlockColumns) {
      std::memcpy(to, row + i * kBlockColumns, kBlockColumns * sizeof(float));
    }
    for (size_t m = full * kBlockColumns, block; m < num_columns_; m += block) {
      block = TailBlock(num_columns_ - m);
      std::copy_n(row + m, block, values_ + m * num_rows_ + k * block);
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

void MultiplyMoving(const Stationary& stationary, const float* moving,
                    size_t moving_stride, size_t num_columns, MatmulRule rule,
                    float* psum, size_t psum_stride, PsumWrite write) {
  HWY_DYNAMIC_DISPATCH(MultiplyFp32)
  (stationary, moving, moving_stride, num_columns, rule, psum, psum_stride,
   write);
}

void MultiplyMovingBf16(const Stationary& stationary, const uint16_t* moving,
                        size_t moving_stride, size_t num_columns,
                        MatmulRule rule, float* psum, size_t psum_stride,
                        PsumWrite write) {
  HWY_DYNAMIC_DISPATCH(MultiplyBf16)
  (stationary, moving, moving_stride, num_columns, rule, psum, psum_stride,
   write);
}

void MultiplyMovingFp32Pass(const Stationary& stationary, const float* moving,
                            size_t moving_stride, size_t num_columns,
                            MatmulRule rule, float* psum, size_t psum_stride,
                            PsumWrite write) {
  if (rule != MatmulRule::kSilicon) {
    MultiplyMoving(stationary, moving, moving_stride, num_columns, rule, psum,
                   psum_stride, write);
    return;
  }
  HWY_DYNAMIC_DISPATCH(MultiplyFp32Halves)
  (stationary, moving, moving_stride, num_columns, psum, psum_stride, write);
}

void SplitHalves(const float* x, size_t n, float* hi, float* lo) {
  for (size_t i = 0; i < n; ++i) {
    hi[i] = Hi(x[i]);
    lo[i] = Lo(x[i]);
  }
}

void AccumulateRow(float* psum, const float* sums, size_t n) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(psum, sums, n);
}

}  // namespace trnemu
#endif  // HWY_ONCE
