#include "collectives/layout.h"

#include <algorithm>

namespace trnemu::plans {
namespace {

constexpr size_t kTeamCount = static_cast<size_t>(Count::kTeam);

Extent At(int64_t elements, int64_t in_blocks, int64_t in_full, int block) {
  return {elements, {in_blocks, in_full, in_blocks}, block};
}

// `first` elements on, `elements` of them.
Extent Slice(const Extent& e, int64_t first, int64_t elements) {
  Extent out = e;
  out.elements = elements;
  for (int64_t& at : out.at) at += first;
  return out;
}

// Blocks of every tensor, row by row, one tensor after the other.
void GatherBlock(const Problem& problem, int members, int block, Chunks& out) {
  const int64_t all = problem.elements();
  int64_t before = 0;
  for (int64_t e : problem.src_elements) {
    const int64_t width = e / problem.rows;
    for (int64_t row = 0; row < problem.rows; ++row) {
      out.Add(At(width, block * all + before + row * width,
                 members * before + (row * members + block) * width, block));
    }
    before += e;
  }
}

void ScatterBlock(const Problem& problem, int members, int block, Chunks& out) {
  int64_t at = out.elements(), before = 0;
  for (int64_t e : problem.src_elements) {
    const int64_t n = EvenCount(e, members, block);
    out.Add(At(n, at, before + EvenStart(e, members, block), block));
    at += n;
    before += e;
  }
}

}  // namespace

int64_t Chunks::longest() const {
  int64_t n = 0;
  for (int i = 0; i < size(); ++i) n = std::max(n, Elements(i));
  return n;
}

void Chunks::Add(const Extent& extent, bool join) {
  if (extent.elements == 0) return;
  open_ += extent.elements;
  if (join && extents_.size() > first_.back()) {
    Extent& last = extents_.back();
    bool follows = true;
    for (size_t i = 0; i < 3; ++i) {
      follows &= last.at[i] + last.elements == extent.at[i];
    }
    if (follows) {
      last.elements += extent.elements;
      return;
    }
  }
  extents_.push_back(extent);
}

void Chunks::Close() {
  first_.push_back(static_cast<uint32_t>(extents_.size()));
  start_.push_back(start_.back() + open_);
  open_ = 0;
}

Chunks Chunks::Joined(std::span<const std::vector<int32_t>> lists,
                      bool join) const {
  Chunks out;
  for (const std::vector<int32_t>& list : lists) {
    for (int32_t chunk : list) {
      for (Extent e : (*this)[chunk]) {
        e.chunk = chunk;
        out.Add(e, join);
      }
    }
    out.Close();
  }
  return out;
}

Chunks Chunks::Split(int parts) const {
  Chunks out;
  for (int chunk = 0; chunk < size(); ++chunk) {
    const std::span<const Extent> extents = (*this)[chunk];
    size_t next = 0;
    int64_t used = 0;  // of extents[next]
    for (int p = 0; p < parts; ++p) {
      int64_t left = EvenCount(Elements(chunk), parts, p);
      while (left > 0) {
        const int64_t n = std::min(left, extents[next].elements - used);
        // Extents that were kept apart stay apart.
        out.Add(Slice(extents[next], used, n), false);
        left -= n;
        used += n;
        if (used == extents[next].elements) ++next, used = 0;
      }
      out.Close();
    }
  }
  return out;
}

Chunks Chunks::Only(int chunk) const {
  const std::vector<int32_t> list[] = {{chunk}};
  return Joined(list);
}

Chunks Chunks::Numbered() const {
  Chunks out = *this;
  int64_t at = 0;
  for (Extent& e : out.extents_) {
    e.at[kTeamCount] = at;
    at += e.elements;
  }
  return out;
}

Chunks BlocksOf(const Problem& problem, int members) {
  Chunks out;
  const int64_t all = problem.elements();
  for (int block = 0; block < members; ++block) {
    if (problem.kind == CollectiveKind::kAllGather) {
      GatherBlock(problem, members, block, out);
    } else if (problem.kind == CollectiveKind::kReduceScatter) {
      ScatterBlock(problem, members, block, out);
    } else {
      const int64_t at = EvenStart(all, members, block);
      out.Add(At(EvenCount(all, members, block), at, at, block));
    }
    out.Close();
  }
  return out;
}

}  // namespace trnemu::plans
