#include "core/numerics/convert_kernels.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/numerics/convert.h"
#include "core/numerics/formats.h"
#include "core/numerics/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numerics/convert_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "core/numerics/convert_ops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- Loops ----

template <typename T, class Op>
bool WidenLoop(const std::byte* src, size_t n, float* out, Op op) {
  const T* codes = reinterpret_cast<const T*>(src);  // unaligned loads only
  const hn::ScalableTag<float> df;
  const hn::Rebind<T, decltype(df)> dt;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(op(df, hn::LoadU(dt, codes + i)), df, out + i);
  }
  const OneLane d1;
  for (; i < n; ++i) {
    const hn::Rebind<T, OneLane> dt1;
    hn::StoreU(op(d1, hn::LoadU(dt1, codes + i)), d1, out + i);
  }
  return true;
}

template <typename T, class Op>
bool NarrowLoop(const float* in, size_t n, std::byte* dst, Op op) {
  T* codes = reinterpret_cast<T*>(dst);  // unaligned stores only
  const hn::ScalableTag<float> df;
  const hn::Rebind<T, decltype(df)> dt;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(op(df, hn::LoadU(df, in + i)), dt, codes + i);
  }
  const OneLane d1;
  for (; i < n; ++i) {
    const hn::Rebind<T, OneLane> dt1;
    hn::StoreU(op(d1, hn::LoadU(d1, in + i)), dt1, codes + i);
  }
  return true;
}

bool WidenKernel(Dtype dtype, const std::byte* src, size_t n, float* out) {
  switch (dtype) {
    case Dtype::kUint8:
      return WidenLoop<uint8_t>(src, n, out, WidenInt());
    case Dtype::kInt8:
      return WidenLoop<int8_t>(src, n, out, WidenInt());
    case Dtype::kUint16:
      return WidenLoop<uint16_t>(src, n, out, WidenInt());
    case Dtype::kInt16:
      return WidenLoop<int16_t>(src, n, out, WidenInt());
    case Dtype::kInt32:
      return WidenLoop<int32_t>(src, n, out, WidenInt());
    case Dtype::kUint32:
      return WidenLoop<uint32_t>(src, n, out, WidenUint32());
    case Dtype::kFloat8E4M3:
      return WidenLoop<uint8_t>(src, n, out, WidenE4M3());
    case Dtype::kFloat8E4M3FN:
      return WidenLoop<uint8_t>(src, n, out, WidenE4M3FN());
    case Dtype::kFloat8E5M2:
      return WidenLoop<uint8_t>(src, n, out, WidenE5M2());
    case Dtype::kFloat16:
      return WidenLoop<uint16_t>(src, n, out, WidenFp16());
    case Dtype::kBFloat16:
      return WidenLoop<uint16_t>(src, n, out, WidenBf16());
    case Dtype::kTFloat32:
      return WidenLoop<uint32_t>(src, n, out, WidenTf32());
    default:
      return false;
  }
}

bool NarrowKernel(const float* in, size_t n, Dtype dtype, std::byte* dst,
                  uint32_t e4m3fn_overflow) {
  const NarrowFp8<3, 7> e4m3{LargestFinite(kFormatE4M3), kFormatE4M3.overflow,
                             kFormatE4M3.nan};
  const NarrowFp8<3, 7> e4m3fn{LargestFinite(kFormatE4M3FN), e4m3fn_overflow,
                               kFormatE4M3FN.nan};
  const NarrowFp8<2, 15> e5m2{LargestFinite(kFormatE5M2), kFormatE5M2.overflow,
                              kFormatE5M2.nan};
  switch (dtype) {
    case Dtype::kUint8:
      return NarrowLoop<uint8_t>(in, n, dst, NarrowSmallInt<uint8_t>());
    case Dtype::kInt8:
      return NarrowLoop<int8_t>(in, n, dst, NarrowSmallInt<int8_t>());
    case Dtype::kUint16:
      return NarrowLoop<uint16_t>(in, n, dst, NarrowSmallInt<uint16_t>());
    case Dtype::kInt16:
      return NarrowLoop<int16_t>(in, n, dst, NarrowSmallInt<int16_t>());
    case Dtype::kUint32:
      return NarrowLoop<uint32_t>(in, n, dst, NarrowUint32());
    case Dtype::kInt32:
      return NarrowLoop<int32_t>(in, n, dst, NarrowInt32());
    case Dtype::kBool:
      return NarrowLoop<uint8_t>(in, n, dst, NarrowBool());
    case Dtype::kFloat8E4M3:
      return NarrowLoop<uint8_t>(in, n, dst, e4m3);
    case Dtype::kFloat8E4M3FN:
      return NarrowLoop<uint8_t>(in, n, dst, e4m3fn);
    case Dtype::kFloat8E5M2:
      return NarrowLoop<uint8_t>(in, n, dst, e5m2);
    case Dtype::kFloat16:
      return NarrowLoop<uint16_t>(in, n, dst, NarrowFp16());
    case Dtype::kBFloat16:
      return NarrowLoop<uint16_t>(in, n, dst, NarrowBf16());
    case Dtype::kTFloat32:
      return NarrowLoop<uint32_t>(in, n, dst, NarrowTf32());
    default:
      return false;
  }
}

size_t FirstNanKernel(const float* in, size_t n) {
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if (!hn::AllFalse(df, hn::IsNaN(hn::LoadU(df, in + i)))) break;
  }
  for (; i < n && in[i] == in[i]; ++i) {
  }
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trnemu {

HWY_EXPORT(WidenKernel);
HWY_EXPORT(NarrowKernel);
HWY_EXPORT(FirstNanKernel);

bool WidenContiguous(Dtype dtype, const std::byte* src, size_t n, float* out) {
  if (dtype == Dtype::kFloat32) {
    if (n != 0) std::memcpy(out, src, n * sizeof(float));
    return true;
  }
  return HWY_DYNAMIC_DISPATCH(WidenKernel)(dtype, src, n, out);
}

bool NarrowContiguous(const float* in, size_t n, Dtype dtype, std::byte* dst,
                      uint32_t e4m3fn_overflow) {
  if (dtype == Dtype::kFloat32) {
    if (n != 0) std::memcpy(dst, in, n * sizeof(float));
    return true;
  }
  return HWY_DYNAMIC_DISPATCH(NarrowKernel)(in, n, dtype, dst, e4m3fn_overflow);
}

size_t FirstNan(const float* in, size_t n) {
  return HWY_DYNAMIC_DISPATCH(FirstNanKernel)(in, n);
}

}  // namespace trnemu
#endif  // HWY_ONCE
