// Who has written PSUM: one entry for each pair of its bytes.
#ifndef TRNEMU_MEMORY_PSUM_STATE_H_
#define TRNEMU_MEMORY_PSUM_STATE_H_

#include <cstddef>
#include <cstdint>

#include "memory/written_bits.h"

namespace trnemu {

// Who wrote an element of PSUM last since its PsumReset.
enum class PsumWriter : uint8_t { kNothing = 0, kMatmul = 1, kOther = 2 };

// A place in an array of entries; used like a pointer to the first of them.
// The entries of a writer are bits of its own, so that rows are marked and
// looked at by words (memory/written_bits.h).
class PsumState {
 public:
  // Words of host memory that an array of n entries needs.
  static constexpr int64_t Words(int64_t n) {
    return 2 * WrittenBits::Words(n);
  }

  PsumState() = default;  // tracks nothing; only tracked() may be called
  // An array of `entries`, of Words(entries) words: zeros are kNothing.
  PsumState(uint64_t* memory, int64_t entries)
      : matmul_(memory, entries),
        other_(memory + WrittenBits::Words(entries), entries) {}

  bool tracked() const { return matmul_.tracked(); }
  PsumState& operator+=(ptrdiff_t entries) {
    matmul_ += entries;
    other_ += entries;
    return *this;
  }
  PsumState operator+(ptrdiff_t entries) const {
    PsumState moved = *this;
    return moved += entries;
  }

  PsumWriter operator[](ptrdiff_t at) const {
    return matmul_[at]  ? PsumWriter::kMatmul
           : other_[at] ? PsumWriter::kOther
                        : PsumWriter::kNothing;
  }
  // The n entries from `begin` on.
  void Mark(ptrdiff_t begin, int64_t n, PsumWriter writer) const;
  // Their writers, as bits 1 << PsumWriter.
  unsigned Writers(ptrdiff_t begin, int64_t n) const;

 private:
  // An entry is in one of them at most.
  WrittenBits matmul_;
  WrittenBits other_;
};

}  // namespace trnemu

#endif  // TRNEMU_MEMORY_PSUM_STATE_H_
