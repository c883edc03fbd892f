// Every algorithm and operation by its definition, in random orders.
#include "tests/collectives/plan_disorder.h"
#include "tests/collectives/plan_harness.h"

namespace trnemu {
namespace {

constexpr CollectiveKind kReductionsAndGathers[] = {
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
    CollectiveKind::kReduceScatter};

// Small whole numbers: every order of addition gives the same.
std::vector<std::vector<float>> WholeNumbers(int members, int64_t n) {
  std::vector<std::vector<float>> out(At(members));
  for (int m = 0; m < members; ++m) {
    for (int64_t i = 0; i < n; ++i) {
      out[At(m)].push_back(static_cast<float>((m * 7 + i * 3) % 23 - 9));
    }
  }
  return out;
}

// What a member's dst has to be. Tensors one after the other.
std::vector<float> Expected(const Problem& p, int members, int member,
                            const std::vector<std::vector<float>>& src) {
  std::vector<float> out;
  const auto reduced = [&](int64_t at) {
    float v = src[0][At(at)];
    for (int m = 1; m < members; ++m) v = Apply(p.op, v, src[At(m)][At(at)]);
    return v;
  };
  int64_t before = 0;
  for (int64_t e : p.src_elements) {
    if (p.kind == CollectiveKind::kAllReduce) {
      for (int64_t i = 0; i < e; ++i) out.push_back(reduced(before + i));
    } else if (p.kind == CollectiveKind::kReduceScatter) {
      const int64_t first = before + ShareStart(e, members, member);
      for (int64_t i = 0; i < Share(e, members, member); ++i) {
        out.push_back(reduced(first + i));
      }
    } else {
      const int64_t width = e / p.rows;
      for (int64_t row = 0; row < p.rows; ++row) {
        for (int m = 0; m < members; ++m) {
          for (int64_t i = 0; i < width; ++i) {
            out.push_back(src[At(m)][At(before + row * width + i)]);
          }
        }
      }
    }
    before += e;
  }
  return out;
}

// In place as Problem::in_place says, of one tensor.
Alias InPlace(const Problem& p, int members) {
  const int64_t n = p.elements(), width = n / p.rows;
  if (p.kind == CollectiveKind::kReduceScatter) {
    return {Buffer::kDst, [=](int32_t m, int64_t i) {
              return ShareStart(n, members, m) + i;
            }};
  }
  if (p.kind == CollectiveKind::kAllReduce) {
    return {Buffer::kSrc, [](int32_t, int64_t i) { return i; }};
  }
  return {Buffer::kSrc, [=](int32_t m, int64_t i) {
            return (i / width * members + m) * width + i % width;
          }};
}

void RunAndCheck(Problem p, const GroupShape& shape, Algorithm algorithm,
                 bool in_place, int orders, std::mt19937_64& random,
                 const Ranges& ranges = {}) {
  SCOPED_TRACE(testing::Message()
               << Name(p.kind) << " " << Name(algorithm) << " of "
               << shape.members << " on " << shape.chip.back() + 1 << " chips, "
               << shape.nodes.size() << " nodes, " << p.elements()
               << " elements, in place " << in_place);
  p.in_place = in_place;
  const auto plan = MakePlan(p, shape, algorithm, ranges);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto src = WholeNumbers(shape.members, p.elements());
  std::vector<std::vector<float>> expected;
  std::vector<int64_t> sizes;
  for (int m = 0; m < shape.members; ++m) {
    expected.push_back(Expected(p, shape.members, m, src));
    sizes.push_back(static_cast<int64_t>(expected.back().size()));
  }
  const Alias alias = in_place ? InPlace(p, shape.members) : Alias{};
  for (int order = 0; order < orders; ++order) {
    Memory memory(*plan, src, sizes, alias);
    Execute(*plan, p.op, memory, random);
    for (int m = 0; m < shape.members; ++m) {
      ASSERT_EQ(memory.Dst(m, expected[At(m)].size()), expected[At(m)])
          << "member " << m;
    }
    if (order == 0 && plan->moves.size() < 6000 && p.elements() <= 64) {
      ASSERT_EQ(FindDisorder(*plan, shape, memory), "");
    }
  }
}

// Every algorithm that the group can have.
void CheckAll(const Problem& p, const GroupShape& shape, int orders,
              std::mt19937_64& random) {
  for (size_t a = 1; a < kAlgorithmNames.size(); ++a) {
    const auto algorithm = static_cast<Algorithm>(a);
    if (!CheckAlgorithm(p, shape, algorithm).ok()) continue;
    RunAndCheck(p, shape, algorithm, false, orders, random);
    RunAndCheck(p, shape, algorithm, true, 1, random);
  }
}

class GroupsTest : public testing::TestWithParam<int> {};

TEST_P(GroupsTest, EveryAlgorithmGivesWhatTheOperationIsDefinedToBe) {
  std::mt19937_64 random(kSeed);
  RecordProperty("seed", std::to_string(kSeed));
  const int members = GetParam();
  for (int per_chip : {1, 2, 4, 8}) {
    if (per_chip < 4 && members > 16) continue;
    for (int nodes : {1, 2}) {
      if (nodes > members) continue;
      const GroupShape shape = Grid(members, per_chip, nodes);
      for (int64_t size : {0, 1, 7, 64, 1000}) {
        if (members > 16 && (size == 1 || size == 64)) continue;
        for (CollectiveKind kind : kReductionsAndGathers) {
          CheckAll(Make(kind, {size}), shape, members > 16 ? 1 : 3, random);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Members, GroupsTest,
                         testing::Values(1, 2, 3, 4, 5, 8, 16, 32, 64));

TEST(PlanValuesTest, TheOrderOfTheGroupDoesNotHaveToBeThatOfTheChips) {
  std::mt19937_64 random(kSeed);
  for (int nodes : {1, 2}) {
    for (int members : {8, 12, 16}) {
      const GroupShape shape = Shuffled(Grid(members, 4, nodes), random);
      for (CollectiveKind kind : kReductionsAndGathers) {
        CheckAll(Make(kind, {61}), shape, 2, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(PlanValuesTest, TensorsOfACoalescedListAreDoneTogether) {
  std::mt19937_64 random(kSeed);
  const GroupShape shape = Grid(8, 4), two = Grid(8, 2, 2);
  for (CollectiveKind kind : kReductionsAndGathers) {
    for (const GroupShape& s : {shape, two}) {
      const Problem p = Make(kind, {5, 0, 33, 8});
      for (size_t a = 1; a < kAlgorithmNames.size(); ++a) {
        const auto algorithm = static_cast<Algorithm>(a);
        if (!CheckAlgorithm(p, s, algorithm).ok()) continue;
        RunAndCheck(p, s, algorithm, false, 3, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(PlanValuesTest, BlocksOfAnAllGatherLieSideBySideInItsRows) {
  std::mt19937_64 random(kSeed);
  Problem p = Make(CollectiveKind::kAllGather, {30});
  p.rows = 6;
  CheckAll(p, Grid(16, 4), 3, random);
  CheckAll(p, Grid(16, 4, 2), 3, random);
}

TEST(PlanValuesTest, MinimumAndMaximumAreReducedLikeSums) {
  std::mt19937_64 random(kSeed);
  for (AluOp op : {AluOp::kMinimum, AluOp::kMaximum}) {
    Problem p = Make(CollectiveKind::kAllReduce, {50});
    p.op = op;
    CheckAll(p, Grid(16, 4), 1, random);
    CheckAll(p, Grid(16, 4, 2), 1, random);
  }
}

TEST(PlanValuesTest, StagesOfAHierarchyMayHaveAnyAlgorithms) {
  std::mt19937_64 random(kSeed);
  constexpr double kNever = -1, kAlways = 1e18;
  for (const auto& [mesh, rdh, single] : {std::tuple{kNever, kNever, kNever},
                                          {kNever, kAlways, kNever},
                                          {kAlways, kAlways, kNever},
                                          {kAlways, kAlways, kAlways}}) {
    Ranges r;
    r.mesh_up_to = mesh;
    r.rdh_up_to = rdh;
    r.hop_bytes = r.network_hop_bytes = single;
    for (int nodes : {2, 3, 4}) {
      for (int per_node : {3, 4, 8, 16}) {
        for (CollectiveKind kind : kReductionsAndGathers) {
          for (bool in_place : {false, true}) {
            RunAndCheck(Make(kind, {61}), Grid(nodes * per_node, 4, nodes),
                        Algorithm::kHierarchical, in_place, 2, random, r);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace trnemu
