#include "core/numerics/convert.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/numerics/convert_kernels.h"
#include "core/numerics/formats.h"

namespace trnemu {
namespace {

// Calls visit.template operator()<dtype>() with the dtype as a constant.
template <typename Visit>
void VisitDtype(Dtype dtype, Visit visit) {
  switch (dtype) {
    case Dtype::kUint8:
      return visit.template operator()<Dtype::kUint8>();
    case Dtype::kInt8:
      return visit.template operator()<Dtype::kInt8>();
    case Dtype::kUint16:
      return visit.template operator()<Dtype::kUint16>();
    case Dtype::kInt16:
      return visit.template operator()<Dtype::kInt16>();
    case Dtype::kUint32:
      return visit.template operator()<Dtype::kUint32>();
    case Dtype::kInt32:
      return visit.template operator()<Dtype::kInt32>();
    case Dtype::kBool:
      return visit.template operator()<Dtype::kBool>();
    case Dtype::kFloat8E4M3:
      return visit.template operator()<Dtype::kFloat8E4M3>();
    case Dtype::kFloat8E5M2:
      return visit.template operator()<Dtype::kFloat8E5M2>();
    case Dtype::kFloat8E4M3FN:
      return visit.template operator()<Dtype::kFloat8E4M3FN>();
    case Dtype::kFloat8E8M0FNU:
      return visit.template operator()<Dtype::kFloat8E8M0FNU>();
    case Dtype::kFloat16:
      return visit.template operator()<Dtype::kFloat16>();
    case Dtype::kBFloat16:
      return visit.template operator()<Dtype::kBFloat16>();
    case Dtype::kTFloat32:
      return visit.template operator()<Dtype::kTFloat32>();
    case Dtype::kFloat32:
      return visit.template operator()<Dtype::kFloat32>();
    case Dtype::kFloat8E5M2X4:
    case Dtype::kFloat8E4M3FNX4:
    case Dtype::kFloat4E2M1FNX4:
    case Dtype::kInvalid:
      return;  // excluded by the contract
  }
}

template <size_t kBytes>
using Word =
    std::conditional_t<kBytes == 1, uint8_t,
                       std::conditional_t<kBytes == 2, uint16_t, uint32_t>>;

// Whether the kernels, which know the default rules only, may be used.
bool KernelOptions(Dtype dtype, const NumericsOptions& options) {
  return options.subnormals == Subnormals::kKeep &&
         (dtype != Dtype::kTFloat32 || options.tf32 == Tf32Rounding::kRne) &&
         (!IsInteger(dtype) || options.nan_to_integer == NanToInteger::kZero) &&
         (dtype == Dtype::kFloat8E4M3FN ||
          options.float_overflow == FloatOverflow::kToInfinity);
}

bool Contiguous(Dtype dtype, ptrdiff_t stride_bytes) {
  return stride_bytes == static_cast<ptrdiff_t>(SizeOf(dtype));
}

template <Dtype kDtype>
void WidenStrided(const std::byte* src, ptrdiff_t stride_bytes, size_t n,
                  const NumericsOptions& options, float* out) {
  const NumericsOptions o = options;  // cannot alias out
  for (size_t i = 0; i < n; ++i) {
    Word<SizeOf(kDtype)> code;
    std::memcpy(&code, src + static_cast<ptrdiff_t>(i) * stride_bytes,
                sizeof(code));
    out[i] = std::bit_cast<float>(WidenElement<kDtype>(code, o));
  }
}

template <Dtype kDtype>
void NarrowStrided(const float* in, size_t n, std::byte* dst,
                   ptrdiff_t stride_bytes, const NumericsOptions& options) {
  const NumericsOptions o = options;
  for (size_t i = 0; i < n; ++i) {
    const auto code = static_cast<Word<SizeOf(kDtype)>>(
        NarrowElement<kDtype>(std::bit_cast<uint32_t>(in[i]), o));
    std::memcpy(dst + static_cast<ptrdiff_t>(i) * stride_bytes, &code,
                sizeof(code));
  }
}

}  // namespace

void WidenRow(Dtype dtype, const std::byte* src, ptrdiff_t stride_bytes,
              size_t n, const NumericsOptions& options, float* out) {
  if (stride_bytes == 0 && n > 1) {  // a broadcast
    WidenRow(dtype, src, 0, 1, options, out);
    std::fill(out + 1, out + n, out[0]);
    return;
  }
  if (Contiguous(dtype, stride_bytes) && KernelOptions(dtype, options) &&
      WidenContiguous(dtype, src, n, out)) {
    return;
  }
  VisitDtype(dtype, [&]<Dtype kDtype>() {
    WidenStrided<kDtype>(src, stride_bytes, n, options, out);
  });
}

void NarrowRow(const float* in, size_t n, Dtype dtype, std::byte* dst,
               ptrdiff_t stride_bytes, const NumericsOptions& options) {
  const bool saturate = options.e4m3fn_overflow == E4m3fnOverflow::kSaturate;
  const uint32_t overflow = saturate ? kE4M3FNMax : kFormatE4M3FN.overflow;
  if (Contiguous(dtype, stride_bytes) && KernelOptions(dtype, options) &&
      NarrowContiguous(in, n, dtype, dst, overflow)) {
    return;
  }
  VisitDtype(dtype, [&]<Dtype kDtype>() {
    NarrowStrided<kDtype>(in, n, dst, stride_bytes, options);
  });
}

}  // namespace trnemu
