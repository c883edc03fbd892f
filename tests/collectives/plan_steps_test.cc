// Steps, bytes and memory accesses of plans, as documented.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "collectives/counts.h"
#include "tests/collectives/plan_harness.h"

namespace trnemu {
namespace {

using enum Algorithm;
using enum CollectiveKind;

Plan PlanOf(CollectiveKind kind, Algorithm algorithm, const GroupShape& shape,
            int64_t elements, const Ranges& ranges = {}) {
  auto plan = MakePlan(Make(kind, {elements}), shape, algorithm, ranges);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

int Steps(CollectiveKind kind, Algorithm algorithm, const GroupShape& shape) {
  return PlanOf(kind, algorithm, shape, 64 * shape.members).steps;
}

TEST(PlanStepsTest, AMoveNeedsEachMoveOnceHoweverOftenItIsNamed) {
  PlanWriter writer(kDirect, 1);
  const uint32_t a = writer.Begin(0, 0, 1, 0), b = writer.Begin(0, 0, 1, 0);
  writer.After(a);
  const uint32_t c = writer.Begin(0, 0, 1, 1);
  writer.After(std::vector{b, a, b});
  writer.After(a);
  const Plan plan = std::move(writer).Finish();
  EXPECT_EQ(plan.moves[c].needs, 2u);
  EXPECT_THAT(plan.SuccessorsOf(plan.moves[a]), testing::ElementsAre(b, c));
  EXPECT_THAT(plan.SuccessorsOf(plan.moves[b]), testing::ElementsAre(c));
  EXPECT_EQ(plan.steps, 3);
}

TEST(PlanStepsTest, ARingTakesAHopLessThanItHasMembersAndTwiceThatForBoth) {
  for (int n : {2, 3, 8, 64}) {
    const GroupShape shape = Grid(n, 4);
    EXPECT_EQ(Steps(kAllGather, kRing, shape), n - 1);
    // The last hop's receiver adds its own.
    EXPECT_EQ(Steps(kReduceScatter, kRing, shape), n - 1 + 1);
    EXPECT_EQ(Steps(kAllReduce, kRing, shape), 2 * (n - 1));
  }
}

TEST(PlanStepsTest, AKangaRingTakesHalfTheStepsOfARing) {
  for (int n : {4, 8, 64}) {
    const GroupShape shape = Grid(n, 4);
    EXPECT_EQ(Steps(kAllGather, kKangaRing, shape), n / 2);
    EXPECT_EQ(Steps(kReduceScatter, kKangaRing, shape), n / 2);
    EXPECT_EQ(Steps(kAllReduce, kKangaRing, shape), n - 1);
  }
}

TEST(PlanStepsTest, AMeshTakesTwoStepsAndOneOnASingleChip) {
  const GroupShape server = Grid(64, 4), chip = Grid(4, 4), spread = Grid(8, 1);
  EXPECT_EQ(Steps(kAllGather, kMesh, server), 2);
  EXPECT_EQ(Steps(kReduceScatter, kMesh, server), 2);
  EXPECT_EQ(Steps(kAllReduce, kMesh, server), 4);
  EXPECT_EQ(Steps(kAllGather, kMesh, chip), 1);
  EXPECT_EQ(Steps(kReduceScatter, kMesh, chip), 1);
  EXPECT_EQ(Steps(kAllReduce, kMesh, chip), 2);
  // One rank a chip: one step over the links; reductions where it arrives.
  EXPECT_EQ(Steps(kAllGather, kMesh, spread), 1);
  EXPECT_EQ(Steps(kReduceScatter, kMesh, spread), 2);
  EXPECT_EQ(Steps(kAllReduce, kSingleStepMesh, server), 2);
}

TEST(PlanStepsTest, RdhTakesAStepForEachAxisAndOneInsideChips) {
  // 16 chips: four axes. A scatter adds up once more at the end.
  const GroupShape server = Grid(64, 4), spread = Grid(16, 1);
  EXPECT_EQ(Steps(kAllGather, kRdh, server), 4 + 1);
  EXPECT_EQ(Steps(kReduceScatter, kRdh, server), 1 + 4 + 1);
  EXPECT_EQ(Steps(kAllReduce, kRdh, server), 2 * (4 + 1));
  EXPECT_EQ(Steps(kAllGather, kRdh, spread), 4);
  EXPECT_EQ(Steps(kAllReduce, kRdh, spread), 2 * 4);
}

TEST(PlanStepsTest, AHierarchyTakesTheStepsOfItsStages) {
  Ranges rings;
  rings.mesh_up_to = rings.rdh_up_to = -1;
  const GroupShape shape = Grid(32, 4, 4);  // 4 nodes of 2 chips
  const Plan plan = PlanOf(kAllReduce, kHierarchical, shape, 3200, rings);
  EXPECT_EQ(plan.inside_nodes, kKangaRing);
  EXPECT_EQ(plan.between_nodes, kRing);
  // KangaRing's scatter of 8, ring of 4, KangaRing's gather of 8.
  EXPECT_EQ(plan.steps, 4 + 2 * 3 + 4);
}

TEST(PlanStepsTest, MembersOfARingSendTwoNMinusOneNthsOfTheBuffer) {
  const int64_t n = 64, elements = 64 * 8 * 4, bytes = elements * 4;
  const GroupShape shape = Grid(64, 4);
  const auto sent = [&](CollectiveKind kind, Algorithm a, int64_t size) {
    std::set<int64_t> all;
    for (const auto& c : CountTraffic(PlanOf(kind, a, shape, size), shape, 4)) {
      all.insert(c.sent);
    }
    return all;
  };
  const int64_t once = (n - 1) * bytes / n;
  EXPECT_THAT(sent(kAllReduce, kRing, elements),
              testing::ElementsAre(2 * once));
  EXPECT_THAT(sent(kReduceScatter, kRing, elements),
              testing::ElementsAre(once));
  EXPECT_THAT(sent(kAllGather, kRing, elements / n),
              testing::ElementsAre(once));
  EXPECT_THAT(sent(kAllReduce, kRdh, elements),
              testing::ElementsAre(testing::Le(2 * once)));
  EXPECT_THAT(sent(kAllGather, kRdh, elements / n), testing::ElementsAre(once));
  EXPECT_THAT(sent(kAllReduce, kSingleStepMesh, elements),
              testing::ElementsAre((n - 1) * bytes));
}

TEST(PlanStepsTest, EveryAllGatherSendsEachChunkToEachMemberOnce) {
  const int64_t n = 64, elements = 32;
  for (Algorithm a : {kRing, kMesh, kRdh, kKangaRing}) {
    const GroupShape shape = Grid(64, 4);
    int64_t sent = 0, written = 0;
    for (const auto& c :
         CountTraffic(PlanOf(kAllGather, a, shape, elements), shape, 4)) {
      sent += c.sent;
      written += c.written;
    }
    EXPECT_EQ(sent, n * (n - 1) * elements * 4) << Name(a);
    EXPECT_EQ(written, n * n * elements * 4) << Name(a);
  }
}

// intranode-collective-comm.rst, "KangaRing Algorithm": for a chunk to traverse
// two ranks a ring's gather accesses memory 4 times and a KangaRing's 3, a
// ring's scatter 6 times and a KangaRing's 4.
TEST(PlanStepsTest, ChunksAccessMemoryAsOftenAsDocumented) {
  const int64_t n = 64, chunk = 64;  // elements
  const GroupShape shape = Grid(64, 4);
  // All N chunks are on their way in each step but the first and last; they
  // pass one rank of a ring, two of a KangaRing.
  const auto accesses = [&](CollectiveKind kind, Algorithm a, int64_t ranks) {
    const int64_t size = kind == kAllGather ? chunk : chunk * n;
    const Plan plan = PlanOf(kind, a, shape, size);
    const int64_t of_step = AccessesOfStep(plan, 5, 4);
    EXPECT_EQ(of_step, AccessesOfStep(plan, 20, 4));
    return static_cast<double>(of_step * 2 / ranks) /
           static_cast<double>(n * chunk * 4);
  };
  EXPECT_EQ(accesses(kAllGather, kRing, 1), 4);
  EXPECT_EQ(accesses(kAllGather, kKangaRing, 2), 3);
  EXPECT_EQ(accesses(kReduceScatter, kRing, 1), 6);
  EXPECT_EQ(accesses(kReduceScatter, kKangaRing, 2), 4);
}

TEST(PlanStepsTest, ChannelsUseLinksOfTheirOwnAndPartsOfTheEngines) {
  const GroupShape shape = Grid(64, 4);  // four cycles
  const Plan plan = PlanOf(kAllGather, kRing, shape, 64);
  EXPECT_EQ(plan.channels, 4);
  // Directed chip-to-chip hops, and which channels take them.
  std::map<std::pair<int, int>, std::set<int>> hops;
  for (const Move& m : plan.moves) {
    EXPECT_EQ(m.channels, 4);
    for (const Piece& piece : plan.PiecesOf(m)) {
      for (const Place& p : plan.DestinationsOf(piece)) {
        const int from = shape.chip[At(m.member)],
                  to = shape.chip[At(p.member)];
        if (from == to) continue;
        hops[{from, to}].insert(m.channel);
        EXPECT_EQ(shape.local[At(m.member)], 3) << "leaves by the last rank";
        EXPECT_EQ(shape.local[At(p.member)], 0) << "enters by the first";
      }
    }
  }
  EXPECT_EQ(hops.size(), 4u * 16);
  for (const auto& [hop, channels] : hops) EXPECT_EQ(channels.size(), 1u);
}

TEST(PlanStepsTest, RanksOfAKangaRingArePrimaryInEveryOtherCycle) {
  const GroupShape shape = Grid(64, 4);
  const Plan plan = PlanOf(kAllGather, kKangaRing, shape, 64);
  std::map<int, std::set<int>> channels;
  for (const Move& m : plan.moves) {
    EXPECT_EQ(m.channels, 2);
    channels[m.member].insert(m.channel);
  }
  EXPECT_EQ(channels.size(), 64u);
  for (const auto& [member, of] : channels) EXPECT_EQ(of.size(), 2u);
}

TEST(PlanStepsTest, AFlatRingLeavesNodesFromAChipOfItsOwnInEachChannel) {
  const GroupShape shape = Grid(128, 4, 2);
  const Plan plan = PlanOf(kAllGather, kRing, shape, 64);
  std::set<int> leaves, enters;
  for (const Move& m : plan.moves) {
    const Place to = plan.DestinationsOf(plan.PiecesOf(m)[0])[0];
    if (shape.node[At(m.member)] != shape.node[At(to.member)]) {
      leaves.insert(shape.chip[At(m.member)]);
      enters.insert(shape.chip[At(to.member)]);
    }
  }
  EXPECT_EQ(leaves.size(), 2u * 4);
  EXPECT_EQ(enters.size(), 2u * 4);
}

TEST(PlanStepsTest, MeshStepsAreSharedEvenlyByTheRanksOfAChip) {
  const GroupShape shape = Grid(64, 4);
  for (CollectiveKind kind : {kAllGather, kReduceScatter}) {
    const Plan plan = PlanOf(kind, kMesh, shape, 64);
    std::map<int, int> first_step;
    for (const Move& m : plan.moves) first_step[m.member] += m.step == 0;
    for (const auto& [member, moves] : first_step) {
      // 15 chips, or 60 ranks, among 4; and a rank's own sum.
      if (kind == kAllGather) {
        EXPECT_THAT(moves, testing::AnyOf(3, 4));
      } else {
        EXPECT_EQ(moves, 15 + 1);
      }
    }
  }
}

TEST(PlanStepsTest, ChunksTooSmallForAllChannelsStillGoRound) {
  // One element: one channel, 64 members, every step of the ring.
  const Plan plan = PlanOf(kAllReduce, kRing, Grid(64, 4), 1);
  EXPECT_EQ(plan.channels, 1);
  EXPECT_EQ(plan.steps, 2 * 63);
  const Plan nothing = PlanOf(kAllReduce, kMesh, Grid(64, 4), 0);
  EXPECT_EQ(nothing.steps, 4);
}

}  // namespace
}  // namespace trnemu
