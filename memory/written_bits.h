// Which bytes of a memory have been written: one bit a byte.
#ifndef TRNEMU_MEMORY_WRITTEN_BITS_H_
#define TRNEMU_MEMORY_WRITTEN_BITS_H_

#include <cstddef>
#include <cstdint>

namespace trnemu {

// A place in an array of bits that belongs to a memory; used like a pointer to
// the first of them. Positions count from there, in bytes of the memory, and
// may be negative where the array goes on. Words are read and written whole,
// so that two threads must not mark bytes of the same 64.
class WrittenBits {
 public:
  static constexpr int64_t kWordBits = 64;
  // Words that n bits need.
  static constexpr int64_t Words(int64_t n) {
    return (n + kWordBits - 1) / kWordBits;
  }

  WrittenBits() = default;  // tracks nothing; only tracked() may be called
  explicit WrittenBits(uint64_t* words, int64_t origin = 0)
      : words_(words), origin_(origin) {}

  bool tracked() const { return words_ != nullptr; }
  WrittenBits operator+(ptrdiff_t bytes) const {
    return WrittenBits(words_, origin_ + bytes);
  }
  WrittenBits& operator+=(ptrdiff_t bytes) { return *this = *this + bytes; }

  bool operator[](ptrdiff_t at) const {
    const int64_t bit = origin_ + at;
    return (words_[bit / kWordBits] >> (bit % kWordBits) & 1) != 0;
  }
  // The n bits from `begin` on.
  void Set(ptrdiff_t begin, int64_t n) const;
  void Clear(ptrdiff_t begin, int64_t n) const;
  bool AllSet(ptrdiff_t begin, int64_t n) const;
  // The first bit that is not set, counted from `begin`; n if all are.
  int64_t FirstClear(ptrdiff_t begin, int64_t n) const;
  int64_t FirstSet(ptrdiff_t begin, int64_t n) const;  // the same of set bits

  // n pieces of `size` bits that start `step` apart (any sign, and 0).
  void SetEach(ptrdiff_t begin, ptrdiff_t step, int64_t n, int64_t size) const;
  bool EachSet(ptrdiff_t begin, ptrdiff_t step, int64_t n, int64_t size) const;

 private:
  int64_t First(bool set, ptrdiff_t begin, int64_t n) const;

  uint64_t* words_ = nullptr;
  int64_t origin_ = 0;  // never negative
};

}  // namespace trnemu

#endif  // TRNEMU_MEMORY_WRITTEN_BITS_H_
