#include "memory/psum_state.h"

#include <algorithm>

namespace trnemu {

void PsumState::Mark(ptrdiff_t begin, int64_t n, PsumWriter writer) const {
  if (writer == PsumWriter::kMatmul) {
    matmul_.Set(begin, n);
  } else {
    matmul_.Clear(begin, n);
  }
  if (writer == PsumWriter::kOther) {
    other_.Set(begin, n);
  } else {
    other_.Clear(begin, n);
  }
}

unsigned PsumState::Writers(ptrdiff_t begin, int64_t n) const {
  unsigned writers = 0;
  for (int64_t done = 0; done < n;) {
    const ptrdiff_t at = begin + done;
    const PsumWriter writer = (*this)[at];
    writers |= 1u << static_cast<unsigned>(writer);
    // As far as it is the same.
    switch (writer) {
      case PsumWriter::kMatmul:
        done += matmul_.FirstClear(at, n - done);
        break;
      case PsumWriter::kOther:
        done += other_.FirstClear(at, n - done);
        break;
      case PsumWriter::kNothing:
        done += std::min(matmul_.FirstSet(at, n - done),
                         other_.FirstSet(at, n - done));
    }
  }
  return writers;
}

}  // namespace trnemu
