#include "memory/written_bits.h"

#include <algorithm>
#include <bit>

namespace trnemu {
namespace {

constexpr int64_t kWordBits = WrittenBits::kWordBits;
constexpr uint64_t kOnes = ~uint64_t{0};

// Calls visit(group, which of its words) for the words [from, to), until it
// gives false.
template <typename Visit>
bool ForEachGroup(int64_t from, int64_t to, Visit visit) {
  for (int64_t word = from; word < to;) {
    const int64_t end = std::min(to, (word / 64 + 1) * 64);
    const uint64_t which = (kOnes >> (64 - (end - word))) << (word % 64);
    if (!visit(word / 64, which)) return false;
    word = end;
  }
  return true;
}

// Pieces that are whole words apart, like rows: each has the same ends.
bool AreRows(ptrdiff_t step) { return step % kWordBits == 0; }

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

// The words that n > 0 bits touch: those of which all are among them, [from,
// to), and parts of at most one before and one after these.
struct WrittenBits::Span {
  Span(int64_t begin, int64_t n) {
    // Unsigned, so that dividing is shifting.
    constexpr uint64_t kBits = kWordBits;
    const uint64_t low = static_cast<uint64_t>(begin);
    const uint64_t high = low + static_cast<uint64_t>(n) - 1;
    from = static_cast<int64_t>(low / kBits);
    to = static_cast<int64_t>(high / kBits) + 1;
    head = kOnes << (low % kBits);
    tail = kOnes >> (kBits - 1 - high % kBits);
    if (from + 1 == to) {
      head &= tail;
      tail = kOnes;
    }
    if (head == kOnes) {
      head = 0;
    } else {
      ++from;
    }
    if (tail == kOnes) {
      tail = 0;
    } else {
      --to;
    }
  }
  // Calls visit(word, bits of it) for each word that is touched.
  template <typename Visit>
  void ForEachWord(Visit visit) const {
    if (head != 0) visit(from - 1, head);
    for (int64_t word = from; word < to; ++word) visit(word, kOnes);
    if (tail != 0) visit(to, tail);
  }
  void Move(int64_t words) {
    from += words;
    to += words;
  }

  int64_t from;
  int64_t to;
  uint64_t head;  // bits of the word before `from`; 0: there is none
  uint64_t tail;  // bits of the word `to`; 0: there is none
};

void WrittenBits::SetWord(int64_t word, uint64_t bits) const {
  Group& group = GroupOf(word);
  const uint64_t before = Word(word);
  const uint64_t now = before | bits;
  if (now == before) return;
  if (now == kOnes) {
    group.full |= BitOf(word);
    group.some &= ~BitOf(word);
  } else {
    group.some |= BitOf(word);
    words_[word] = now;
  }
}

void WrittenBits::ClearWord(int64_t word, uint64_t bits) const {
  Group& group = GroupOf(word);
  const uint64_t now = Word(word) & ~bits;
  if (now == kOnes) return;
  group.full &= ~BitOf(word);
  if (now == 0) {
    group.some &= ~BitOf(word);
  } else {
    group.some |= BitOf(word);
    words_[word] = now;
  }
}

void WrittenBits::SetSpan(const Span& span) const {
  if (span.head != 0) SetWord(span.from - 1, span.head);
  ForEachGroup(span.from, span.to, [&](int64_t group, uint64_t which) {
    groups_[group].full |= which;
    groups_[group].some &= ~which;
    return true;
  });
  if (span.tail != 0) SetWord(span.to, span.tail);
}

bool WrittenBits::SpanSet(const Span& span) const {
  return (span.head == 0 || HasAll(span.from - 1, span.head)) &&
         ForEachGroup(span.from, span.to,
                      [&](int64_t group, uint64_t which) {
                        return (which & ~groups_[group].full) == 0;
                      }) &&
         (span.tail == 0 || HasAll(span.to, span.tail));
}

void WrittenBits::Set(ptrdiff_t begin, int64_t n) const {
  if (n > 0) SetSpan(Span(origin_ + begin, n));
}

void WrittenBits::Clear(ptrdiff_t begin, int64_t n) const {
  if (n <= 0) return;
  const Span span(origin_ + begin, n);
  if (span.head != 0) ClearWord(span.from - 1, span.head);
  ForEachGroup(span.from, span.to, [&](int64_t group, uint64_t which) {
    groups_[group].full &= ~which;
    groups_[group].some &= ~which;
    return true;
  });
  if (span.tail != 0) ClearWord(span.to, span.tail);
}

bool WrittenBits::AllSet(ptrdiff_t begin, int64_t n) const {
  return n <= 0 || SpanSet(Span(origin_ + begin, n));
}

int64_t WrittenBits::First(bool set, ptrdiff_t begin, int64_t n) const {
  if (n <= 0) return 0;
  const int64_t from = origin_ + begin;
  const int64_t last = (from + n - 1) / kWordBits;
  uint64_t bits = kOnes << (from % kWordBits);  // of the word that are asked
  for (int64_t word = from / kWordBits; word <= last; bits = kOnes) {
    // Words without such a bit, up to the end of the group.
    const Group& group = GroupOf(word);
    const uint64_t have = set ? group.full | group.some : ~group.full;
    const uint64_t ahead = have >> (word % 64);
    if ((ahead & 1) == 0) {
      word = ahead == 0 ? (word / 64 + 1) * 64 : word + std::countr_zero(ahead);
      continue;
    }
    const uint64_t found = (set ? Word(word) : ~Word(word)) & bits;
    if (found != 0) {
      return std::min(n, word * kWordBits + std::countr_zero(found) - from);
    }
    ++word;
  }
  return n;
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
  if (IsComb(step, size)) {
    const uint64_t comb = Comb(from, step, size);
    Span(from, (n - 1) * step + size)
        .ForEachWord(
            [&](int64_t word, uint64_t bits) { SetWord(word, bits & comb); });
    return;
  }
  if (AreRows(step)) {
    Span row(from, size);
    for (int64_t i = 0; i < n; ++i, row.Move(step / kWordBits)) SetSpan(row);
    return;
  }
  for (int64_t i = 0; i < n; ++i) Set(begin + i * step, size);
}

bool WrittenBits::EachSet(ptrdiff_t begin, ptrdiff_t step, int64_t n,
                          int64_t size) const {
  Ascend(begin, step, n);
  if (n <= 1 || step == size) return AllSet(begin, n * size);
  const int64_t from = origin_ + begin;
  if (AreRows(step)) {
    Span row(from, size);
    for (int64_t i = 0; i < n; ++i, row.Move(step / kWordBits)) {
      if (!SpanSet(row)) return false;
    }
    return true;
  }
  // What lies between them is often set, too, which is quicker to see.
  const Span all(from, (n - 1) * step + size);
  if (step < kWordBits && SpanSet(all)) return true;
  if (IsComb(step, size)) {
    const uint64_t comb = Comb(from, step, size);
    bool set = true;
    all.ForEachWord([&](int64_t word, uint64_t bits) {
      set = set && HasAll(word, bits & comb);
    });
    return set;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!AllSet(begin + i * step, size)) return false;
  }
  return true;
}

}  // namespace trnemu
