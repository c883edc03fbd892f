// Groups, a reference executor of plans and a check of their orders, for tests.
#ifndef TRNEMU_TESTS_COLLECTIVES_PLAN_HARNESS_H_
#define TRNEMU_TESTS_COLLECTIVES_PLAN_HARNESS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "collectives/choose.h"

namespace trnemu {

inline constexpr uint64_t kSeed = 20240607;

inline size_t At(int64_t i) { return static_cast<size_t>(i); }

// Elements of part i of n in `parts`, and where it starts: n / parts each, the
// first n % parts of them one more.
inline int64_t Share(int64_t n, int64_t parts, int64_t i) {
  return n / parts + (i < n % parts);
}
inline int64_t ShareStart(int64_t n, int64_t parts, int64_t i) {
  int64_t at = 0;
  for (int64_t k = 0; k < i; ++k) at += Share(n, parts, k);
  return at;
}

// Through n chips with a stride, once.
inline std::vector<int32_t> Cycle(int n, int stride) {
  std::vector<int32_t> out;
  for (int i = 0; i < n; ++i) out.push_back(i * stride % n);
  return out;
}

// Members fill chips of `per_chip` ranks, chips fill nodes evenly. Cycles: both
// directions, and of 8 chips and more also both with a stride of 3 (where 3
// does not divide); a hypercube by the bits of the chips' numbers.
inline GroupShape Grid(int members, int per_chip, int nodes = 1) {
  GroupShape s;
  s.members = members;
  s.ranks_per_chip = per_chip;
  s.hypercube.resize(At(nodes));
  for (int m = 0, chip = -1, node = 0; node < nodes; ++node) {
    GroupShape::NodeCycles& n = s.nodes.emplace_back();
    const int64_t end = m + Share(members, nodes, node);
    for (int local = 0; m < end; ++m, ++local) {
      if (local % per_chip == 0) n.chips.push_back(++chip);
      s.node.push_back(node);
      s.chip.push_back(chip);
      s.local.push_back(local % per_chip);
    }
    const int chips = static_cast<int>(n.chips.size());
    n.cycles.push_back(Cycle(chips, 1));
    if (chips > 2) n.cycles.push_back(Cycle(chips, chips - 1));
    if (chips >= 8 && chips % 3 != 0) {
      n.cycles.push_back(Cycle(chips, 3));
      n.cycles.push_back(Cycle(chips, chips - 3));
    }
    if ((chips & (chips - 1)) != 0) continue;
    for (int bit = 1; bit < chips; bit *= 2) {
      auto& axis = s.hypercube[At(node)].emplace_back();
      for (int c = 0; c < chips; ++c) axis.push_back(c ^ bit);
    }
  }
  return s;
}

// The same chips with the members dealt to them in another order.
inline GroupShape Shuffled(GroupShape s, std::mt19937_64& random) {
  std::vector<size_t> order(At(s.members));
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const GroupShape old = s;
  std::vector<int32_t> next(1000, 0);
  for (size_t m = 0; m < order.size(); ++m) {
    s.node[m] = old.node[order[m]];
    s.chip[m] = old.chip[order[m]];
    s.local[m] = next[At(s.chip[m])]++;
  }
  return s;
}

inline Problem Make(CollectiveKind kind, std::vector<int64_t> elements) {
  Problem p;
  p.kind = kind;
  p.op = AluOp::kAdd;
  p.dtype = Dtype::kFloat32;
  p.src_elements = std::move(elements);
  return p;
}

// Where an in-place member's element of `from` lies in its other buffer.
struct Alias {
  Buffer from = Buffer::kSrc;
  std::function<int64_t(int32_t member, int64_t offset)> to = nullptr;
};

// Values of all buffers.
class Memory {
 public:
  static constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();

  Memory(const Plan& plan, std::vector<std::vector<float>> src,
         std::vector<int64_t> dst_elements, Alias alias = {})
      : alias_(std::move(alias)), src_(std::move(src)), src1_(src_) {
    for (int32_t m = 0; m < plan.members; ++m) {
      dst_.emplace_back(At(dst_elements[At(m)]), kUnset);
      scratch_.emplace_back(At(plan.scratch_elements[At(m)]), kUnset);
      if (!alias_.to || alias_.from != Buffer::kSrc) continue;
      for (size_t i = 0; i < src_[At(m)].size(); ++i) {
        const int64_t to = alias_.to(m, static_cast<int64_t>(i));
        if (At(to) >= dst_[At(m)].size()) dst_[At(m)].resize(At(to) + 1);
        dst_[At(m)][At(to)] = src_[At(m)][i];
      }
    }
  }

  Place Real(Place p, int64_t element) const {
    p.offset += element;
    if (alias_.to && p.buffer == alias_.from) {
      p.buffer = p.buffer == Buffer::kSrc ? Buffer::kDst : Buffer::kSrc;
      p.offset = alias_.to(p.member, p.offset);
    }
    return p;
  }
  float& operator[](const Place& p) {
    std::vector<std::vector<float>>& all = p.buffer == Buffer::kSrc    ? src_
                                           : p.buffer == Buffer::kSrc1 ? src1_
                                           : p.buffer == Buffer::kDst
                                               ? dst_
                                               : scratch_;
    EXPECT_GE(p.offset, 0);
    return all.at(At(p.member)).at(At(p.offset));
  }
  std::vector<std::vector<float>>& src1() { return src1_; }
  std::vector<float> Dst(int32_t member, size_t elements) {
    std::vector<float> out;
    for (size_t i = 0; i < elements; ++i) {
      out.push_back(
          (*this)[Real({member, Buffer::kDst, 0}, static_cast<int64_t>(i))]);
    }
    return out;
  }

 private:
  Alias alias_;
  std::vector<std::vector<float>> src_, src1_, dst_, scratch_;
};

inline float Apply(AluOp op, float a, float b) {
  if (op == AluOp::kMaximum) return std::max(a, b);
  if (op == AluOp::kMinimum) return std::min(a, b);
  return a + b;
}

inline void CarryOut(const Plan& plan, const Move& move, AluOp op,
                     Memory& memory) {
  for (const Piece& piece : plan.PiecesOf(move)) {
    const auto sources = plan.SourcesOf(piece);
    for (int64_t i = 0; i < piece.elements; ++i) {
      float value = memory[memory.Real(sources[0], i)];
      for (const Place& s : sources.subspan(1)) {
        value = Apply(op, value, memory[memory.Real(s, i)]);
      }
      for (const Place& d : plan.DestinationsOf(piece)) {
        memory[memory.Real(d, i)] = value;
      }
    }
  }
}

// Carries a plan out in an order that its dependences allow.
inline void Execute(const Plan& plan, AluOp op, Memory& memory,
                    std::mt19937_64& random) {
  std::vector<uint32_t> needs, ready;
  for (const Move& m : plan.moves) {
    if (m.needs == 0) ready.push_back(static_cast<uint32_t>(needs.size()));
    needs.push_back(m.needs);
  }
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    std::swap(ready[random() % ready.size()], ready.back());
    const Move& m = plan.moves[ready.back()];
    ready.pop_back();
    CarryOut(plan, m, op, memory);
    for (uint32_t next : plan.SuccessorsOf(m)) {
      if (--needs[next] == 0) ready.push_back(next);
    }
  }
  ASSERT_EQ(done, plan.moves.size()) << "moves wait for each other";
}

// Which moves are before which, as rows of bits.
class Orders {
 public:
  explicit Orders(const Plan& plan)
      : words_(plan.moves.size() / 64 + 1),
        before_(words_ * plan.moves.size()) {
    for (size_t id = 0; id < plan.moves.size(); ++id) {
      for (uint32_t next : plan.SuccessorsOf(plan.moves[id])) {
        EXPECT_GT(next, id);
        uint64_t* row = &before_[next * words_];
        for (size_t w = 0; w < words_; ++w) row[w] |= before_[id * words_ + w];
        row[id / 64] |= uint64_t{1} << id % 64;
      }
    }
  }
  bool Before(uint32_t a, uint32_t b) const {
    return before_[b * words_ + a / 64] >> a % 64 & 1;
  }

 private:
  size_t words_;
  std::vector<uint64_t> before_;
};

}  // namespace trnemu

#endif  // TRNEMU_TESTS_COLLECTIVES_PLAN_HARNESS_H_
