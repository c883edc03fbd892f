// The order in which each algorithm adds, written again as plain loops over
// values for which the order matters.
#include <cmath>

#include "tests/collectives/plan_harness.h"

namespace trnemu {
namespace {

using Vectors = std::vector<std::vector<float>>;  // by member

Vectors Uneven(int members, int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  Vectors out(At(members));
  for (auto& v : out) {
    for (int64_t i = 0; i < n; ++i) {
      const auto mantissa = static_cast<float>(random() % 16777216) - 8388608;
      v.push_back(std::ldexp(mantissa, -static_cast<int>(random() % 12)));
    }
  }
  return out;
}

// The element belongs to part `part` of n elements in `parts`.
int64_t PartOf(int64_t n, int64_t parts, int64_t element) {
  int64_t part = 0;
  while (ShareStart(n, parts, part + 1) <= element) ++part;
  return part;
}

std::vector<std::vector<int>> ByChip(const GroupShape& s) {
  std::vector<std::vector<int>> chips(s.nodes[0].chips.size());
  for (int m = 0; m < s.members; ++m) chips[At(s.chip[At(m)])].push_back(m);
  return chips;
}

std::vector<int> RingOrder(const GroupShape& s, int64_t channel) {
  const auto chips = ByChip(s);
  std::vector<int> order;
  for (int chip : s.nodes[0].cycles[At(channel)]) {
    for (int m : chips[At(chip)]) order.push_back(m);
  }
  return order;
}

int64_t Channels(const GroupShape& s, int64_t longest) {
  const auto cycles = static_cast<int64_t>(s.nodes[0].cycles.size());
  return std::max<int64_t>(1, std::min(cycles, longest));
}

// Element i: of the block of member `block`, whose place in its ring is p, the
// sum starts at place p + 1 and goes once round, to p.
float RingSum(const GroupShape& s, const Vectors& x, int64_t i) {
  const auto n = static_cast<int64_t>(x[0].size()),
             members = int64_t{s.members};
  const int64_t block = PartOf(n, members, i);
  const int64_t channel =
      PartOf(Share(n, members, block), Channels(s, Share(n, members, 0)),
             i - ShareStart(n, members, block));
  const std::vector<int> ring = RingOrder(s, channel);
  const auto place = std::find(ring.begin(), ring.end(), block) - ring.begin();
  float sum = 0;
  for (int64_t k = 1; k <= members; ++k) {
    const float v = x[At(ring[At((place + k) % members)])][At(i)];
    sum = k == 1 ? v : sum + v;
  }
  return sum;
}

// As the ring, by pairs: what came, the primary's, the secondary's. Even
// channels have the first of a pair as the primary. Members are in order, so
// that pairs are of two blocks after each other.
float KangaRingSum(const GroupShape& s, const Vectors& x, int64_t i) {
  const auto n = static_cast<int64_t>(x[0].size()),
             members = int64_t{s.members};
  const int64_t block = PartOf(n, members, i), unit = block / 2;
  int64_t channels = Channels(s, Share(n, members, 0));
  if (channels == 1 && Share(n, members, 0) > 1) channels = 2;
  const int64_t channel = PartOf(Share(n, members, block), channels,
                                 i - ShareStart(n, members, block));
  std::vector<int> ring =
      RingOrder(s, channel % static_cast<int64_t>(s.nodes[0].cycles.size()));
  const int64_t pairs = members / 2;
  const auto place =
      (std::find(ring.begin(), ring.end(), 2 * unit) - ring.begin()) / 2;
  float sum = 0;
  for (int64_t k = 1; k <= pairs; ++k) {
    const int64_t pair = (place + k) % pairs;
    for (int64_t of_pair : {channel % 2, 1 - channel % 2}) {
      const float v = x[At(ring[At(2 * pair + of_pair)])][At(i)];
      sum = k == 1 && of_pair == channel % 2 ? v : sum + v;
    }
  }
  return sum;
}

float ChipSum(const std::vector<int>& chip, const Vectors& x, int64_t i) {
  float sum = x[At(chip[0])][At(i)];
  for (size_t k = 1; k < chip.size(); ++k) sum = sum + x[At(chip[k])][At(i)];
  return sum;
}

// Each chip's sum in local order; those in the order of chips.
float MeshSum(const GroupShape& s, const Vectors& x, int64_t i) {
  const auto chips = ByChip(s);
  float sum = ChipSum(chips[0], x, i);
  for (size_t c = 1; c < chips.size(); ++c) sum = sum + ChipSum(chips[c], x, i);
  return sum;
}

float SingleStepSum(const GroupShape& s, const Vectors& x, int64_t i) {
  float sum = x[0][At(i)];
  for (int m = 1; m < s.members; ++m) sum = sum + x[At(m)][At(i)];
  return sum;
}

// Chips' sums, added along one axis after the other from the last to the first:
// a chip's own and its partner's.
float RdhSum(const GroupShape& s, const Vectors& x, int64_t i) {
  const auto chips = ByChip(s);
  std::vector<float> sums;
  for (const auto& chip : chips) sums.push_back(ChipSum(chip, x, i));
  const auto& axes = s.hypercube[0];
  for (size_t axis = axes.size(); axis-- > 0;) {
    std::vector<float> next;
    for (size_t c = 0; c < chips.size(); ++c) {
      next.push_back(sums[c] + sums[At(axes[axis][c])]);
    }
    sums = next;
  }
  const auto n = static_cast<int64_t>(x[0].size());
  return sums[At(s.chip[At(PartOf(n, s.members, i))])];
}

using Sum = float (*)(const GroupShape&, const Vectors&, int64_t);
struct Case {
  Algorithm algorithm;
  Sum sum;
};
constexpr Case kCases[] = {{Algorithm::kRing, RingSum},
                           {Algorithm::kKangaRing, KangaRingSum},
                           {Algorithm::kMesh, MeshSum},
                           {Algorithm::kSingleStepMesh, SingleStepSum},
                           {Algorithm::kRdh, RdhSum}};

std::vector<float> All(Sum sum, const GroupShape& shape, const Vectors& x) {
  std::vector<float> out;
  for (size_t i = 0; i < x[0].size(); ++i) {
    out.push_back(sum(shape, x, static_cast<int64_t>(i)));
  }
  return out;
}

void Check(const Problem& p, const GroupShape& shape, Algorithm algorithm,
           const Ranges& ranges, const Vectors& x,
           const std::vector<float>& expected) {
  const auto plan = MakePlan(p, shape, algorithm, ranges);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::mt19937_64 random(kSeed);
  const auto n = static_cast<int64_t>(expected.size());
  for (int order = 0; order < 2; ++order) {
    std::vector<int64_t> sizes;
    for (int m = 0; m < shape.members; ++m) {
      sizes.push_back(p.kind == CollectiveKind::kAllReduce
                          ? n
                          : Share(n, shape.members, m));
    }
    Memory memory(*plan, x, sizes);
    Execute(*plan, p.op, memory, random);
    for (int m = 0; m < shape.members; ++m) {
      const std::vector<float> got = memory.Dst(m, At(sizes[At(m)]));
      const int64_t from = p.kind == CollectiveKind::kAllReduce
                               ? 0
                               : ShareStart(n, shape.members, m);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], expected[At(from) + i])
            << Name(p.kind) << " " << Name(algorithm) << " of " << shape.members
            << " member " << m << " element " << i;
      }
    }
  }
}

TEST(PlanSumsTest, EachAlgorithmAddsInItsDocumentedOrder) {
  for (int members : {2, 4, 8, 16, 32, 64}) {
    for (int per_chip : {4, 8}) {
      const GroupShape shape = Grid(members, per_chip);
      for (int64_t size : {7, 1000}) {
        const Vectors x = Uneven(members, size, kSeed);
        for (const Case& c : kCases) {
          for (CollectiveKind kind :
               {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter}) {
            const Problem p = Make(kind, {size});
            if (!CheckAlgorithm(p, shape, c.algorithm).ok()) continue;
            Check(p, shape, c.algorithm, {}, x, All(c.sum, shape, x));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(PlanSumsTest, TheAlgorithmsDifferInTheLastBits) {
  // Else the test above could not tell them apart.
  const GroupShape shape = Grid(16, 4);
  const Vectors x = Uneven(16, 200, kSeed);
  for (const Case& a : kCases) {
    for (const Case& b : kCases) {
      if (a.sum == b.sum) continue;
      EXPECT_NE(All(a.sum, shape, x), All(b.sum, shape, x))
          << Name(a.algorithm) << " " << Name(b.algorithm);
    }
  }
}

// The same node by node, each block of the result then over the nodes.
TEST(PlanSumsTest, AHierarchyAddsInsideNodesAndThenBetweenThem) {
  constexpr double kNever = -1, kAlways = 1e18;
  struct Stage {
    Ranges ranges;
    Sum inside, between;
  };
  Ranges mesh, rdh, ring;
  mesh.mesh_up_to = kAlways;
  mesh.network_hop_bytes = mesh.hop_bytes = kNever;
  rdh.mesh_up_to = kNever;
  rdh.rdh_up_to = kAlways;
  ring.mesh_up_to = ring.rdh_up_to = kNever;
  for (const Stage& s : {Stage{mesh, MeshSum, MeshSum},
                         {rdh, RdhSum, RdhSum},
                         {ring, KangaRingSum, RingSum}}) {
    const int nodes = 4, per_node = 16;
    const int64_t size = 1000;
    const GroupShape node = Grid(per_node, 4), network = Grid(nodes, 1);
    const GroupShape one_cycle = [&] {
      GroupShape g = network;
      g.nodes[0].cycles.resize(1);
      return g;
    }();
    const Vectors x = Uneven(nodes * per_node, size, kSeed);
    Vectors of_node;
    for (int k = 0; k < nodes; ++k) {
      of_node.push_back(All(
          s.inside, node,
          Vectors(x.begin() + k * per_node, x.begin() + (k + 1) * per_node)));
    }
    std::vector<float> expected;
    for (int block = 0; block < per_node; ++block) {
      Vectors parts;
      const int64_t from = ShareStart(size, per_node, block);
      for (const auto& v : of_node) {
        parts.emplace_back(v.begin() + from,
                           v.begin() + from + Share(size, per_node, block));
      }
      for (float v : All(s.between, one_cycle, parts)) expected.push_back(v);
    }
    Check(Make(CollectiveKind::kAllReduce, {size}),
          Grid(nodes * per_node, 4, nodes), Algorithm::kHierarchical, s.ranges,
          x, expected);
  }
}

}  // namespace
}  // namespace trnemu
