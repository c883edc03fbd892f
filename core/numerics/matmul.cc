#include "core/numerics/matmul.h"

#include <algorithm>
#include <cstring>

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
#include "hwy/foreach_target.h"  // IWYU pragma: keep

// After foreach_target.h: once for each instruction set.
#include "core/numerics/matmul_kernels-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

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

// All stationary columns by one panel, of which num_columns are written. What
// is computed beyond the last column or row goes no further than `padded`.
void MultiplyPanel(const Stationary& stationary, const Kernels& kernels,
                   size_t group_rows, const float* panel, size_t num_columns,
                   const Output& out) {
  HWY_ALIGN float tile[kTileSize];
  HWY_ALIGN float padded[kTileSize];
  const size_t rows = stationary.num_rows();
  const size_t end = stationary.num_columns();
  const size_t full = Stationary::FullBlocks(end);
  const size_t tail = full * Stationary::kBlockColumns;
  size_t m = 0;
  if (num_columns == kWidth && full > 0) {
    kernels.six(stationary.values(), panel, rows, group_rows, full, tile, out);
    m = tail;
  }
  while (m < end) {
    const size_t block =
        m < tail ? Stationary::kBlockColumns : Stationary::TailBlock(end - m);
    const size_t valid = std::min(block, end - m);
    const Output here = out.Below(m);
    kernels.For(block)(stationary.values() + m * rows, panel, rows, group_rows,
                       1, tile,
                       {padded, kWidth, PsumWrite::kOverwrite, here.lo});
    for (size_t r = 0; r < valid; ++r) {
      Write(here.write, here.data + r * here.stride, padded + r * kWidth,
            num_columns);
    }
    m += valid;
  }
}

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
      MultiplyPanel(stationary, kernels, group_rows, panels + n * rows,
                    std::min(kWidth, columns - n),
                    {psum.data + start + n, psum.stride, psum.write});
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
    MultiplyPanel(stationary, kGroupSums, group_rows, panel, kWidth,
                  {lo, kWidth, PsumWrite::kOverwrite});
    PackPanels<Hi>(moving, rows, n, columns, panel);
    MultiplyPanel(stationary, kGroupSums, group_rows, panel, columns,
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

}  // namespace

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

void AccumulateRow(float* psum, const float* sums, size_t n) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(psum, sums, n);
}

}  // namespace trnemu
#endif  // HWY_ONCE
