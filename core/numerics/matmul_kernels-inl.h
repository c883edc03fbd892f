// The micro-kernels of core/numerics/matmul.cc, once for each instruction set.
#if defined(TRNEMU_CORE_NUMERICS_MATMUL_KERNELS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef TRNEMU_CORE_NUMERICS_MATMUL_KERNELS_INL_H_
#undef TRNEMU_CORE_NUMERICS_MATMUL_KERNELS_INL_H_
#else
#define TRNEMU_CORE_NUMERICS_MATMUL_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/numerics/matmul.h"
#include "hwy/cache_control.h"
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
      size_t k = start;
      for (; k + 2 <= end; k += 2, a += 2 * kRows, b += 2 * kWidth) {
        chains.Step(a, b);
        chains.Step(a + kRows, b + kWidth);
      }
      for (; k < end; ++k, a += kRows, b += kWidth) chains.Step(a, b);
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#endif  // TRNEMU_CORE_NUMERICS_MATMUL_KERNELS_INL_H_
