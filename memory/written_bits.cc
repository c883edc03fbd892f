#include "memory/written_bits.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trnemu {
namespace {

constexpr int64_t kWordBits = WrittenBits::kWordBits;
constexpr uint64_t kOnes = ~uint64_t{0};

// The words that n > 0 bits touch, and which bits of the first and last word
// are among them.
struct Span {
  Span(uint64_t* words, int64_t begin, int64_t n) {
    // Unsigned, so that dividing is shifting.
    constexpr uint64_t kBits = kWordBits;
    const uint64_t from = static_cast<uint64_t>(begin);
    const uint64_t to = from + static_cast<uint64_t>(n) - 1;
    first = words + from / kBits;
    last = words + to / kBits;
    head = kOnes << (from % kBits);
    tail = kOnes >> (kBits - 1 - to % kBits);
    if (first == last) head = tail = head & tail;
  }

  uint64_t* first;
  uint64_t* last;
  uint64_t head;
  uint64_t tail;
};

// Four words in one register, where the processor has such. (An array of four
// is not kept in one by GCC 12.)
using Four [[gnu::vector_size(32)]] = uint64_t;
constexpr ptrdiff_t kFour = 4;

// What the bits of some spans have in common.
class Common {
 public:
  // The words between the first and the last one.
  void AddInner(const uint64_t* first, const uint64_t* last) {
    const uint64_t* word = first + 1;
    if (last - word < kFour) {
      for (; word < last; ++word) ends_ &= *word;
      return;
    }
    for (; last - word >= kFour; word += kFour) AddFour(word);
    AddFour(last - kFour);  // some of them a second time
  }
  void AddEnds(const Span& span) {
    ends_ &= (*span.first | ~span.head) & (*span.last | ~span.tail);
  }
  bool AllSet() const {
    return (ends_ & inner_[0] & inner_[1] & inner_[2] & inner_[3]) == kOnes;
  }

 private:
  void AddFour(const uint64_t* words) {
    Four four;
    std::memcpy(&four, words, sizeof(four));
    inner_ &= four;
  }

  Four inner_ = {kOnes, kOnes, kOnes, kOnes};
  uint64_t ends_ = kOnes;
};

bool SpanSet(const Span& span) {
  // Looks at what it has after each block.
  constexpr ptrdiff_t kBlock = 128;
  const uint64_t* first = span.first;
  Common common;
  common.AddEnds(span);
  while (span.last - first > kBlock) {
    if (!common.AllSet()) return false;
    common.AddInner(first, first + kBlock);
    first += kBlock - 1;
  }
  common.AddInner(first, span.last);
  return common.AllSet();
}

void SetSpan(const Span& span) {
  *span.first |= span.head;
  *span.last |= span.tail;
  uint64_t* word = span.first + 1;
  if (span.last - word < kFour) {
    for (; word < span.last; ++word) *word = kOnes;
    return;
  }
  constexpr Four kOnesFour = {kOnes, kOnes, kOnes, kOnes};
  for (; span.last - word >= kFour; word += kFour) {
    std::memcpy(word, &kOnesFour, sizeof(kOnesFour));
  }
  std::memcpy(span.last - kFour, &kOnesFour, sizeof(kOnesFour));
}

// Pieces that are whole words apart, like rows: each has the same ends.
bool AreRows(ptrdiff_t step) { return step % kWordBits == 0; }

bool RowsSet(Span span, ptrdiff_t step, int64_t n) {
  Common common;
  for (int64_t i = 0; i < n; ++i) {
    common.AddEnds(span);
    common.AddInner(span.first, span.last);
    span.first += step / kWordBits;
    span.last += step / kWordBits;
  }
  return common.AllSet();
}

void SetRows(Span span, ptrdiff_t step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    SetSpan(span);
    span.first += step / kWordBits;
    span.last += step / kWordBits;
  }
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
  return size < step && kWordBits % step == 0;
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
  if (n > 0) SetSpan(Span(words_, origin_ + begin, n));
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
  return n <= 0 || SpanSet(Span(words_, origin_ + begin, n));
}

int64_t WrittenBits::First(bool set, ptrdiff_t begin, int64_t n) const {
  if (n <= 0) return 0;
  const Span span(words_, origin_ + begin, n);
  const uint64_t flip = set ? 0 : kOnes;
  const uint64_t* word = span.first;
  uint64_t found = (*word ^ flip) & span.head;
  while (found == 0 && word < span.last) {
    ++word;
    found = (*word ^ flip) & (word == span.last ? span.tail : kOnes);
  }
  if (found == 0) return n;
  return (word - words_) * kWordBits + std::countr_zero(found) - origin_ -
         begin;
}

int64_t WrittenBits::FirstClear(ptrdiff_t begin, int64_t n) const {
  return First(false, begin, n);
}

int64_t WrittenBits::FirstSet(ptrdiff_t begin, int64_t n) const {
  return First(true, begin, n);
}

void WrittenBits::SetEach(ptrdiff_t begin, ptrdiff_t step, int64_t n,
                          int64_t size) const {
  Ascend(begin, step, n);
  if (n <= 1 || step == size) return Set(begin, n * size);
  const int64_t from = origin_ + begin;
  const Span all(words_, from, (n - 1) * step + size);
  if (IsComb(step, size)) return SetComb(all, Comb(from, step, size));
  // Often all is set already, which is quicker to see than to do.
  if (AreRows(step)) {
    const Span row(words_, from, size);
    if (!RowsSet(row, step, n)) SetRows(row, step, n);
    return;
  }
  if (step < kWordBits && SpanSet(all)) return;
  for (int64_t i = 0; i < n; ++i) Set(begin + i * step, size);
}

bool WrittenBits::EachSet(ptrdiff_t begin, ptrdiff_t step, int64_t n,
                          int64_t size) const {
  Ascend(begin, step, n);
  if (n <= 1 || step == size) return AllSet(begin, n * size);
  const int64_t from = origin_ + begin;
  const Span all(words_, from, (n - 1) * step + size);
  if (IsComb(step, size)) return CombSet(all, Comb(from, step, size));
  if (AreRows(step)) return RowsSet(Span(words_, from, size), step, n);
  if (step < kWordBits && SpanSet(all)) return true;
  for (int64_t i = 0; i < n; ++i) {
    if (!AllSet(begin + i * step, size)) return false;
  }
  return true;
}

}  // namespace trnemu
