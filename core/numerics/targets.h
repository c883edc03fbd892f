// Which vector targets are compiled: include before any header of Highway.
//
// Only targets with a fused multiply-add: AVX2 (the floor, with FMA and F16C,
// which -march=x86-64-v3 promises), AVX-512 (AVX3, where the processor has
// it) and NEON. Highway also asks an AVX2 baseline for AES and PCLMUL, which
// we do not use; without the second definition it would build SSSE3 and SSE4.
#ifndef TRNEMU_CORE_NUMERICS_TARGETS_H_
#define TRNEMU_CORE_NUMERICS_TARGETS_H_

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (~(HWY_AVX2 | HWY_AVX3 | HWY_NEON))
#endif
#ifndef HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_PCLMUL_AES
#endif

#endif  // TRNEMU_CORE_NUMERICS_TARGETS_H_
