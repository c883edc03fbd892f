// Which bytes of a memory have been written: one bit a byte.
#ifndef TRNEMU_MEMORY_WRITTEN_BITS_H_
#define TRNEMU_MEMORY_WRITTEN_BITS_H_

#include <cstddef>
#include <cstdint>

namespace trnemu {

// A place in an array of bits that belongs to a memory; used like a pointer to
// the first of them. Positions count from there, in bytes of the memory, and
// may be negative where the array goes on.
//
// Of every 64 words two more words say which have all bits set and which have
// some; only the latter are looked up. Rows of tiles are mostly whole words, so
// that a check or a mark of 4096 bytes is one word, and that of a tile stays in
// the host's caches. Two threads must not mark bytes of the same 4096.
class WrittenBits {
 public:
  static constexpr int64_t kWordBits = 64;
  static constexpr int64_t kGroupBits = 64 * kWordBits;
  // Words of host memory that an array of n bits needs.
  static constexpr int64_t Words(int64_t n) {
    return 2 * Groups(n) + (n + kWordBits - 1) / kWordBits;
  }

  WrittenBits() = default;  // tracks nothing; only tracked() may be called
  // An array of `bits`, of Words(bits) words: zeros are bits that are not set.
  WrittenBits(uint64_t* memory, int64_t bits)
      : groups_(reinterpret_cast<Group*>(memory)),
        words_(memory + 2 * Groups(bits)) {}

  bool tracked() const { return words_ != nullptr; }
  WrittenBits operator+(ptrdiff_t bytes) const {
    WrittenBits moved = *this;
    moved.origin_ += bytes;
    return moved;
  }
  WrittenBits& operator+=(ptrdiff_t bytes) { return *this = *this + bytes; }

  bool operator[](ptrdiff_t at) const {
    const int64_t bit = origin_ + at;
    return (Word(bit / kWordBits) >> (bit % kWordBits) & 1) != 0;
  }
  // The n bits from `begin` on.
  void Set(ptrdiff_t begin, int64_t n) const;
  void Clear(ptrdiff_t begin, int64_t n) const;
  // The same, with release(address, bytes) to zero long pieces of host memory.
  template <typename Release>
  void ClearWith(ptrdiff_t begin, int64_t n, Release release) const {
    const int64_t from = origin_ + begin;
    const int64_t first = Groups(from), last = (from + n) / kGroupBits;
    if (first >= last) return Clear(begin, n);
    Clear(begin, first * kGroupBits - from);
    Clear(last * kGroupBits - origin_, from + n - last * kGroupBits);
    release(groups_ + first, (last - first) * int64_t{sizeof(Group)});
    release(words_ + first * 64, (last - first) * kGroupBits / 8);
  }
  bool AllSet(ptrdiff_t begin, int64_t n) const;
  // The first bit that is not set, counted from `begin`; n if all are.
  int64_t FirstClear(ptrdiff_t begin, int64_t n) const;
  int64_t FirstSet(ptrdiff_t begin, int64_t n) const;  // the same of set bits

  // n pieces of `size` bits that start `step` apart (any sign, and 0).
  void SetEach(ptrdiff_t begin, ptrdiff_t step, int64_t n, int64_t size) const;
  bool EachSet(ptrdiff_t begin, ptrdiff_t step, int64_t n, int64_t size) const;

 private:
  // Of 64 words: those of which all bits are set, and those of which some are,
  // but not all; only what these hold counts.
  struct Group {
    uint64_t full;
    uint64_t some;
  };
  struct Span;

  static constexpr int64_t Groups(int64_t n) {
    return (n + kGroupBits - 1) / kGroupBits;
  }
  Group& GroupOf(int64_t word) const { return groups_[word / 64]; }
  static uint64_t BitOf(int64_t word) {
    return uint64_t{1} << (static_cast<uint64_t>(word) % 64);
  }
  uint64_t Word(int64_t word) const {
    const Group& group = GroupOf(word);
    if ((group.full & BitOf(word)) != 0) return ~uint64_t{0};
    return (group.some & BitOf(word)) != 0 ? words_[word] : 0;
  }
  bool HasAll(int64_t word, uint64_t bits) const {
    return (~Word(word) & bits) == 0;
  }
  void SetWord(int64_t word, uint64_t bits) const;
  void ClearWord(int64_t word, uint64_t bits) const;
  void SetSpan(const Span& span) const;
  bool SpanSet(const Span& span) const;
  int64_t First(bool set, ptrdiff_t begin, int64_t n) const;

  Group* groups_ = nullptr;
  uint64_t* words_ = nullptr;
  int64_t origin_ = 0;  // never negative
};

}  // namespace trnemu

#endif  // TRNEMU_MEMORY_WRITTEN_BITS_H_
