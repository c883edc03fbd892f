// Operations that go straight to the receiver, and broadcast.
#include <optional>

#include "tests/collectives/plan_disorder.h"
#include "tests/collectives/plan_harness.h"

namespace trnemu {
namespace {

// By member: its number times 1000 plus the element's.
std::vector<std::vector<float>> Labels(const std::vector<int64_t>& sizes) {
  std::vector<std::vector<float>> out;
  for (size_t m = 0; m < sizes.size(); ++m) {
    out.emplace_back();
    for (int64_t i = 0; i < sizes[m]; ++i) {
      out.back().push_back(static_cast<float>(m * 1000) +
                           static_cast<float>(i));
    }
  }
  return out;
}

// By member; elements that nobody sends are left out of the comparison.
using Values = std::vector<std::vector<std::optional<float>>>;

void RunAndCheck(const Problem& p, const GroupShape& shape,
                 const std::vector<std::vector<float>>& src,
                 const Values& expected, const Alias& alias = {},
                 Algorithm algorithm = Algorithm::kAuto) {
  std::mt19937_64 random(kSeed);
  const auto plan = MakePlan(p, shape, algorithm);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (int order = 0; order < 3; ++order) {
    std::vector<int64_t> sizes;
    for (const auto& e : expected) {
      sizes.push_back(static_cast<int64_t>(e.size()));
    }
    Memory memory(*plan, src, sizes, alias);
    for (auto& of_member : memory.src1()) {
      for (float& v : of_member) v = v * 2 + 0.5f;
    }
    Execute(*plan, p.op, memory, random);
    for (int m = 0; m < shape.members; ++m) {
      const std::vector<float> got = memory.Dst(m, expected[At(m)].size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (!expected[At(m)][i].has_value()) continue;
        ASSERT_EQ(got[i], *expected[At(m)][i])
            << Name(p.kind) << " member " << m << " element " << i
            << " in place " << p.in_place;
      }
    }
    ASSERT_EQ(FindDisorder(*plan, shape, memory), "") << Name(p.kind);
  }
}

Alias SameMemory() {
  return {Buffer::kSrc, [](int32_t, int64_t i) { return i; }};
}

void RunBoth(Problem p, const GroupShape& shape,
             const std::vector<std::vector<float>>& src,
             const Values& expected) {
  RunAndCheck(p, shape, src, expected);
  p.in_place = true;
  RunAndCheck(p, shape, src, expected, SameMemory());
}

Values Nothing(const std::vector<int64_t>& sizes) {
  Values v;
  for (int64_t n : sizes) v.emplace_back(At(n), std::nullopt);
  return v;
}

TEST(PlanDirectTest, AllToAllTransposesTheBlocksOfEachTensor) {
  for (int n : {1, 2, 3, 8}) {
    // 10 elements do not divide by 3 or 8: early blocks are one longer.
    const std::vector<int64_t> tensors = {10, 0, 24};
    const auto src = Labels(std::vector<int64_t>(At(n), 34));
    Values expected(At(n));
    for (int to = 0; to < n; ++to) {
      for (size_t t = 0; t < tensors.size(); ++t) {
        const int64_t before = t == 2 ? 10 : 0;
        for (int from = 0; from < n; ++from) {
          for (int64_t i = 0; i < Share(tensors[t], n, to); ++i) {
            expected[At(to)].push_back(
                src[At(from)][At(before + ShareStart(tensors[t], n, to) + i)]);
          }
        }
      }
    }
    RunBoth(Make(CollectiveKind::kAllToAll, tensors), Grid(n, 4), src,
            expected);
  }
}

TEST(PlanDirectTest, AllToAllSendsToEachDistanceInTurn) {
  const auto plan =
      *MakePlan(Make(CollectiveKind::kAllToAll, {64}), Grid(8, 4));
  ASSERT_EQ(plan.moves.size(), 64u);
  for (int s = 0; s < 8; ++s) {
    for (int i = 0; i < 8; ++i) {
      const Move& m = plan.moves[At(s * 8 + i)];
      EXPECT_EQ(m.member, i);
      EXPECT_EQ(plan.DestinationsOf(plan.PiecesOf(m)[0])[0].member,
                (i + s) % 8);
    }
  }
}

TEST(PlanDirectTest, PermuteSendsFromSourceToTargetOfEachPair) {
  Problem p = Make(CollectiveKind::kPermute, {5});
  p.pairs = {{0, 2}, {2, 1}, {1, 0}, {3, 3}};
  const auto src = Labels(std::vector<int64_t>(5, 5));
  Values expected = Nothing(std::vector<int64_t>(5, 5));
  for (const auto& [from, to] : p.pairs) {
    for (size_t i = 0; i < 5; ++i) expected[At(to)][i] = src[At(from)][i];
  }
  RunBoth(p, Grid(5, 4), src, expected);
}

TEST(PlanDirectTest, ImplicitPermutesSendToTheSuccessorInGroupOrder) {
  std::mt19937_64 random(kSeed);
  for (bool reduce : {false, true}) {
    Problem p = Make(reduce ? CollectiveKind::kPermuteImplicitReduce
                            : CollectiveKind::kPermuteImplicit,
                     {6});
    const auto src = Labels(std::vector<int64_t>(8, 6));
    Values expected = Nothing(std::vector<int64_t>(8, 6));
    for (int m = 0; m < 8; ++m) {
      for (size_t i = 0; i < 6; ++i) {
        const float v = src[At(m)][i];
        // src1 is twice src and a half.
        expected[At((m + 1) % 8)][i] = reduce ? v + (v * 2 + 0.5f) : v;
      }
    }
    RunBoth(p, Shuffled(Grid(8, 4), random), src, expected);
  }
}

TEST(PlanDirectTest, SendAndRecvOfTwoMembersAreOnePlan) {
  for (CollectiveKind kind : {CollectiveKind::kSend, CollectiveKind::kRecv}) {
    const auto src = Labels({7, 7});
    Values expected = Nothing({0, 7});
    for (size_t i = 0; i < 7; ++i) expected[1][i] = src[0][i];
    RunAndCheck(Make(kind, {7}), Grid(2, 1), src, expected);
  }
}

TEST(PlanDirectTest, TheVOperationsMoveEachBlockFromAndToItsPlace) {
  for (bool gather : {false, true}) {
    Problem p = Make(
        gather ? CollectiveKind::kAllGatherV : CollectiveKind::kAllToAllV, {});
    const int n = 4;
    const auto src = Labels(std::vector<int64_t>(4, 40));
    Values expected = Nothing(std::vector<int64_t>(4, 40));
    p.blocks.resize(4);
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) {
        Problem::Block b;
        // Counts of 0 to 9; gathers send the same to all, slots of 10.
        b.count = gather ? 3 * from : (from * 3 + to * 5) % 10;
        b.from = gather ? from : to * 10;
        b.to = from * 10;
        p.blocks[At(from)].push_back(b);
        for (int64_t i = 0; i < b.count; ++i) {
          expected[At(to)][At(b.to + i)] = src[At(from)][At(b.from + i)];
        }
      }
    }
    RunBoth(p, Grid(4, 4), src, expected);
  }
}

TEST(PlanDirectTest, BroadcastGivesEveryoneTheRootsBuffer) {
  for (int members : {1, 2, 5, 16, 32}) {
    for (int nodes : {1, 2}) {
      if (nodes > members) continue;
      for (int64_t size : {0, 1, 7, 64}) {
        for (Algorithm a : {Algorithm::kMesh, Algorithm::kRing}) {
          Problem p = Make(CollectiveKind::kBroadcast, {size});
          p.root = members / 2;
          const auto src = Labels(std::vector<int64_t>(At(members), size));
          Values expected(At(members));
          for (auto& e : expected) {
            e.assign(src[At(p.root)].begin(), src[At(p.root)].end());
          }
          const GroupShape shape = Grid(members, 4, nodes);
          RunAndCheck(p, shape, src, expected, {}, a);
          p.in_place = true;
          RunAndCheck(p, shape, src, expected, SameMemory(), a);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(PlanDirectTest, ABarrierEndsAfterEveryoneHasBegun) {
  for (int n : {2, 3, 5, 8, 64}) {
    const auto plan = *MakePlan(Make(CollectiveKind::kBarrier, {}), Grid(n, 4));
    int rounds = 0;
    while (1 << rounds < n) ++rounds;
    EXPECT_EQ(plan.steps, rounds);
    // Whose moves those that arrive at a member follow, or are.
    const Orders orders(plan);
    std::vector<std::vector<bool>> heard(At(n), std::vector<bool>(At(n)));
    for (uint32_t id = 0; id < plan.moves.size(); ++id) {
      const Piece& piece = plan.PiecesOf(plan.moves[id])[0];
      EXPECT_EQ(piece.elements, 0);
      const int32_t at = plan.DestinationsOf(piece)[0].member;
      for (uint32_t by = 0; by <= id; ++by) {
        if (by == id || orders.Before(by, id)) {
          heard[At(at)][At(plan.moves[by].member)] = true;
        }
      }
    }
    for (int at = 0; at < n; ++at) {
      for (int m = 0; m < n; ++m) {
        EXPECT_TRUE(at == m || heard[At(at)][At(m)]) << at << " of " << m;
      }
    }
  }
}

}  // namespace
}  // namespace trnemu
