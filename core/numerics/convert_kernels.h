// The vector kernels of convert.cc, for contiguous rows under default
// options. They give the bits that formats.h defines.
#ifndef TRNEMU_CORE_NUMERICS_CONVERT_KERNELS_H_
#define TRNEMU_CORE_NUMERICS_CONVERT_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "isa/dtype.h"

namespace trnemu {

// False, and nothing is done, for a dtype that has no kernel.
bool WidenContiguous(Dtype dtype, const std::byte* src, size_t n, float* out);
// `e4m3fn_overflow` is the code that overflow to float8_e4m3fn gives.
bool NarrowContiguous(const float* in, size_t n, Dtype dtype, std::byte* dst,
                      uint32_t e4m3fn_overflow);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_CONVERT_KERNELS_H_
