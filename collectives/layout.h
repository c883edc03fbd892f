// Where a collective's elements are, in the ways its algorithms count them.
#ifndef TRNEMU_COLLECTIVES_LAYOUT_H_
#define TRNEMU_COLLECTIVES_LAYOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/problem.h"

namespace trnemu::plans {

// n elements in `parts` as even as possible, the first ones one longer.
constexpr int64_t EvenStart(int64_t n, int64_t parts, int64_t i) {
  return i * (n / parts) + (i < n % parts ? i : n % parts);
}
constexpr int64_t EvenCount(int64_t n, int64_t parts, int64_t i) {
  return n / parts + (i < n % parts ? 1 : 0);
}

enum class Count : uint8_t {
  kBlocks,  // block after block, each in the order of its owner's buffer
  kFull,    // as in the buffer that has all blocks
  kTeam,    // chunk after chunk of the team that works on them
};

// Elements that lie one after the other in every count.
struct Extent {
  int64_t elements = 0;
  int64_t at[3] = {0, 0, 0};  // by Count
  int32_t chunk = 0;          // whose first it was (see Joined)
  int64_t operator[](Count c) const { return at[static_cast<size_t>(c)]; }
};

// Numbered chunks of a buffer, each of extents.
class Chunks {
 public:
  int size() const { return static_cast<int>(first_.size()) - 1; }
  std::span<const Extent> operator[](int chunk) const {
    const size_t c = static_cast<size_t>(chunk);
    return {extents_.data() + first_[c], first_[c + 1] - first_[c]};
  }
  int64_t Elements(int chunk) const {
    return start_[static_cast<size_t>(chunk) + 1] -
           start_[static_cast<size_t>(chunk)];
  }
  // Elements of the chunks before: in a Numbered list, its place in kTeam.
  int64_t Start(int chunk) const { return start_[static_cast<size_t>(chunk)]; }
  int64_t elements() const { return start_.back(); }
  int64_t longest() const;

  // To the chunk that Close ends; joined with the extent before where they lie
  // one after the other, if `join`.
  void Add(const Extent& extent, bool join = true);
  void Close();

  // Each list of chunks as one. Extents of different ones stay apart if not
  // `join`, and know which of the old chunks they were of.
  Chunks Joined(std::span<const std::vector<int32_t>> lists,
                bool join = true) const;
  // Part p of chunk c is chunk c * parts + p.
  Chunks Split(int parts) const;
  Chunks Only(int chunk) const;
  // kTeam counted anew, from 0 in the order of chunks.
  Chunks Numbered() const;

 private:
  std::vector<Extent> extents_;
  std::vector<uint32_t> first_ = {0};
  std::vector<int64_t> start_ = {0};
  int64_t open_ = 0;  // elements of the chunk that is not closed
};

// By member its block of an all_reduce, all_gather or reduce_scatter. kFull: in
// src and dst; dst; src.
Chunks BlocksOf(const Problem& problem, int members);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_LAYOUT_H_
