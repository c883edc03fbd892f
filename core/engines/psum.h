// How the sums of the tensor engine meet what PSUM holds:
//   accumulate=False  overwrites;
//   accumulate=None   adds to each element that a matmul wrote last since its
//                     PsumReset, else overwrites it (spec/decisions.md);
//   accumulate=True   adds; onto what was never written it is an error on
//                     every generation, onto what another instruction wrote
//                     on those that cannot (nki/api/nki/isa/__init__.py:543).
// An element that dst has more than once meets its sums one after the other
// (the "convolution pattern", release-notes/components/nki.rst:85); of those
// that accumulate=False would overwrite the last stays, if that is admitted.
// A bf16 or fp16 destination is widened, added to in fp32 and cast once
// (nki/guides/architecture/trainium3_arch.rst:139).
#ifndef TRNEMU_CORE_ENGINES_PSUM_H_
#define TRNEMU_CORE_ENGINES_PSUM_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "core/execution.h"
#include "core/numerics/matmul.h"

namespace trnemu {

// One multiplication's way into `dst`: BeginSums, the sums, EndSums.
struct PsumSums {
  enum class Meet : uint8_t { kOverwrite, kAdd, kByElement };
  Meet meet = Meet::kOverwrite;
  unsigned writers = 0;  // of dst before, as bits; 0 if nobody asked
  bool in_place = false;
  bool repeats = false;  // dst has elements more than once
  // Where the sums go, rows `stride` apart, and how: dst itself, or scratch
  // (matrix buffer 1) that is always overwritten.
  float* sums = nullptr;
  size_t stride = 0;
  PsumWrite write = PsumWrite::kOverwrite;
};

// `may_be_in_place`: false asks for scratch.
absl::StatusOr<PsumSums> BeginSums(Accumulate accumulate, const Tile& dst,
                                   CoreState& state,
                                   bool may_be_in_place = true);
// Brings scratch to dst, and marks dst as a matmul's.
void EndSums(const PsumSums& sums, const Tile& dst, CoreState& state);
// Marks dst as written, and by a matmul.
void MarkMatmul(const Tile& dst, CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_PSUM_H_
