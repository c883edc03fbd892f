#include "memory/written_bits.h"

#include <algorithm>
#include <bit>

namespace trnemu {
namespace {

constexpr int64_t kWordBits = WrittenBits::kWordBits;
constexpr uint64_t kOnes = ~uint64_t{0};

// The words that n > 0 bits touch, and which bits of the first and last word
// are among them.
struct Span {
  Span(uint64_t* words, int64_t begin, int64_t n)
      : first(words + begin / kWordBits),
        last(words + (begin + n - 1) / kWordBits),
        head(kOnes << (begin % kWordBits)),
        tail(kOnes >> (kWordBits - 1 - (begin + n - 1) % kWordBits)) {
    if (first == last) head = tail = head & tail;
  }

  uint64_t* first;
  uint64_t* last;
  uint64_t head;
  uint64_t tail;
};

bool AllOnes(const uint64_t* begin, const uint64_t* end) {
  constexpr ptrdiff_t kBlock = 16;
  for (; end - begin >= kBlock; begin += kBlock) {
    uint64_t all = kOnes;
    for (ptrdiff_t i = 0; i < kBlock; ++i) all &= begin[i];
    if (all != kOnes) return false;
  }
  uint64_t all = kOnes;
  for (; begin != end; ++begin) all &= *begin;
  return all == kOnes;
}

// The bits of the span that are set in `comb`.
void SetComb(const Span& span, uint64_t comb) {
  *span.first |= span.head & comb;
  for (uint64_t* word = span.first + 1; word < span.last; ++word) {
    *word |= comb;
  }
  *span.last |= span.tail & comb;
}

bool CombSet(const Span& span, uint64_t comb) {
  uint64_t missing = ~*span.first & span.head;
  missing |= ~*span.last & span.tail;
  for (const uint64_t* word = span.first + 1; word < span.last; ++word) {
    missing |= ~*word;
  }
  return (missing & comb) == 0;
}

// Pieces that lie the same way in each word, which is so where their step
// divides a word: a word of them, the first starting at bit `begin`.
uint64_t Comb(int64_t begin, ptrdiff_t step, int64_t size) {
  const uint64_t piece = kOnes >> (kWordBits - size);
  uint64_t comb = 0;
  for (ptrdiff_t at = 0; at < kWordBits; at += step) comb |= piece << at;
  return std::rotl(comb, static_cast<int>(begin % kWordBits));
}

bool IsComb(ptrdiff_t step, int64_t size) {
  return size < step && step <= kWordBits && kWordBits % step == 0;
}

// Makes pieces ascend without repeating: the same set of bits.
void Ascend(ptrdiff_t& begin, ptrdiff_t& step, int64_t& n) {
  if (step == 0) n = std::min<int64_t>(n, 1);
  if (step >= 0) return;
  begin += (n - 1) * step;
  step = -step;
}

}  // namespace

void WrittenBits::Set(ptrdiff_t begin, int64_t n) const {
  if (n <= 0) return;
  const Span span(words_, origin_ + begin, n);
  *span.first |= span.head;
  if (span.first == span.last) return;
  std::fill(span.first + 1, span.last, kOnes);
  *span.last |= span.tail;
}

void WrittenBits::Clear(ptrdiff_t begin, int64_t n) const {
  if (n <= 0) return;
  const Span span(words_, origin_ + begin, n);
  *span.first &= ~span.head;
  if (span.first == span.last) return;
  std::fill(span.first + 1, span.last, 0);
  *span.last &= ~span.tail;
}

bool WrittenBits::AllSet(ptrdiff_t begin, int64_t n) const {
  if (n <= 0) return true;
  const Span span(words_, origin_ + begin, n);
  const uint64_t ends = (*span.first | ~span.head) & (*span.last | ~span.tail);
  if (ends != kOnes) return false;
  return span.last - span.first < 2 || AllOnes(span.first + 1, span.last);
}

int64_t WrittenBits::FirstClear(ptrdiff_t begin, int64_t n) const {
  if (n <= 0) return 0;
  const Span span(words_, origin_ + begin, n);
  const uint64_t* word = span.first;
  uint64_t clear = ~*word & span.head;
  while (clear == 0 && word < span.last) {
    ++word;
    clear = ~*word & (word == span.last ? span.tail : kOnes);
  }
  if (clear == 0) return n;
  return (word - words_) * kWordBits + std::countr_zero(clear) - origin_ -
         begin;
}

void WrittenBits::SetEach(ptrdiff_t begin, ptrdiff_t step, int64_t n,
                          int64_t size) const {
  Ascend(begin, step, n);
  if (n <= 1 || step == size) return Set(begin, n * size);
  if (IsComb(step, size)) {
    const int64_t from = origin_ + begin;
    SetComb(Span(words_, from, (n - 1) * step + size), Comb(from, step, size));
    return;
  }
  for (int64_t i = 0; i < n; ++i) Set(begin + i * step, size);
}

bool WrittenBits::EachSet(ptrdiff_t begin, ptrdiff_t step, int64_t n,
                          int64_t size) const {
  Ascend(begin, step, n);
  if (n <= 1 || step == size) return AllSet(begin, n * size);
  const int64_t span = (n - 1) * step + size;
  if (IsComb(step, size)) {
    const int64_t from = origin_ + begin;
    return CombSet(Span(words_, from, span), Comb(from, step, size));
  }
  // Where pieces are dense, what lies between them often is written too, and
  // that is quicker to see.
  if (step <= kWordBits && AllSet(begin, span)) return true;
  for (int64_t i = 0; i < n; ++i) {
    if (!AllSet(begin + i * step, size)) return false;
  }
  return true;
}

}  // namespace trnemu
