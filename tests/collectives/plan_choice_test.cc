// The automatic choice, and what a group cannot have.
#include <gmock/gmock.h>

#include "isa/diagnostic.h"
#include "tests/collectives/plan_harness.h"

namespace trnemu {
namespace {

using enum Algorithm;
using enum CollectiveKind;
using testing::HasSubstr;

Algorithm Chosen(CollectiveKind kind, const GroupShape& shape, int64_t bytes,
                 const Ranges& ranges = {}) {
  Problem p = Make(kind, {bytes});
  p.dtype = Dtype::kUint8;
  return Choose(p, shape, ranges);
}

TEST(PlanChoiceTest, SizesDecideAsDocumented) {
  const GroupShape server = Grid(64, 4);
  EXPECT_EQ(Chosen(kAllReduce, server, 100'000), kMesh);
  EXPECT_EQ(Chosen(kAllReduce, server, 1'000'000), kMesh);
  EXPECT_EQ(Chosen(kAllReduce, server, 1'000'001), kRdh);
  EXPECT_EQ(Chosen(kAllReduce, server, 56'000'000), kRdh);
  EXPECT_EQ(Chosen(kAllReduce, server, 56'000'001), kKangaRing);
}

TEST(PlanChoiceTest, TheSizeIsThatOfTheBufferWithAllChunks) {
  const GroupShape server = Grid(64, 4);
  // all_gather: 64 times a member's input.
  EXPECT_EQ(Chosen(kAllGather, server, 1'000'000 / 64), kMesh);
  EXPECT_EQ(Chosen(kAllGather, server, 1'000'000 / 64 + 1), kRdh);
  EXPECT_EQ(Chosen(kReduceScatter, server, 1'000'000), kMesh);
  EXPECT_EQ(Chosen(kReduceScatter, server, 1'000'001), kRdh);
}

TEST(PlanChoiceTest, RingIsTheFallback) {
  // One rank of each chip; three chips; a rank missing on a chip.
  GroupShape spread = Grid(16, 1);
  spread.ranks_per_chip = 4;
  EXPECT_EQ(Chosen(kAllReduce, spread, 60'000'000), kRing);
  EXPECT_EQ(Chosen(kAllReduce, Grid(12, 4), 2'000'000), kKangaRing);
  EXPECT_EQ(Chosen(kAllReduce, Grid(11, 4), 2'000'000), kRing);
  EXPECT_EQ(Chosen(kAllReduce, Grid(11, 4), 20'000), kMesh);
}

TEST(PlanChoiceTest, ASingleStepIsTakenWhereItSendsLittleMore) {
  // (N - 1)(N - 2) / N bytes more for each of the buffer; 100,000 may be: 4
  // ranks up to 66,666 bytes, 64 up to 1638.
  EXPECT_EQ(Chosen(kAllReduce, Grid(4, 4), 66'666), kSingleStepMesh);
  EXPECT_EQ(Chosen(kAllReduce, Grid(4, 4), 66'667), kMesh);
  EXPECT_EQ(Chosen(kAllReduce, Grid(64, 4), 1638), kSingleStepMesh);
  EXPECT_EQ(Chosen(kAllReduce, Grid(64, 4), 1639), kMesh);
  EXPECT_EQ(Chosen(kAllGather, Grid(64, 4), 1), kMesh);
}

TEST(PlanChoiceTest, SeveralNodesAreAHierarchyOfStagesThatFitTheirSizes) {
  const GroupShape small = Grid(128, 4, 2), large = Grid(16 * 64, 4, 16);
  EXPECT_EQ(Chosen(kAllReduce, small, 64), kHierarchical);
  const auto stages = [](const GroupShape& shape, int64_t bytes) {
    const auto plan = *MakePlan(Make(kAllGather, {bytes / 4}), shape);
    return std::pair(plan.inside_nodes, plan.between_nodes);
  };
  using Stages = std::pair<Algorithm, Algorithm>;
  // internode-collective-comm.rst: small groups and sizes mesh and mesh, large
  // ones KangaRing and RDH.
  EXPECT_EQ(stages(small, 64), Stages(kMesh, kMesh));
  EXPECT_EQ(stages(large, 100'000), Stages(kKangaRing, kRdh));
}

TEST(PlanChoiceTest, OneRingThroughAllNodesIsForLargeSizesWhereEnabled) {
  const GroupShape shape = Grid(64, 2, 2);
  Ranges trn1;
  trn1.flat_ring_from = 64e6;
  EXPECT_EQ(Chosen(kAllReduce, shape, 63'000'000, trn1), kHierarchical);
  EXPECT_EQ(Chosen(kAllReduce, shape, 64'000'000, trn1), kRing);
  EXPECT_EQ(Chosen(kAllReduce, shape, 64'000'000), kHierarchical);
}

TEST(PlanChoiceTest, NodesWithDifferentNumbersOfRanksAreOneRing) {
  EXPECT_EQ(Chosen(kAllReduce, Grid(9, 4, 2), 100), kRing);
}

TEST(PlanChoiceTest, OneRankANodeUsesTheAlgorithmsOfTheNetwork) {
  EXPECT_EQ(Chosen(kAllGather, Grid(4, 4, 4), 1000), kMesh);
  EXPECT_EQ(Chosen(kAllGather, Grid(8, 4, 8), 1000), kRdh);
  EXPECT_EQ(Chosen(kAllGather, Grid(4, 4, 4), 100'000'000), kRing);
  EXPECT_EQ(Chosen(kAllGather, Grid(32, 4, 32), 100'000'000), kRdh);
  EXPECT_EQ(Chosen(kAllGather, Grid(9, 4, 9), 1000), kMesh);
}

std::string Refusal(CollectiveKind kind, const GroupShape& shape,
                    Algorithm algorithm) {
  const auto plan = MakePlan(Make(kind, {64}), shape, algorithm);
  EXPECT_FALSE(plan.ok());
  if (plan.ok()) return "";
  const Diagnostic d = DiagnosticOf(plan.status());
  EXPECT_EQ(d.id, "collective.algorithm");
  EXPECT_EQ(d.category, Category::kIllegal);
  return d.message;
}

TEST(PlanChoiceTest, AForcedAlgorithmThatCannotBeSaysWhyAndWhichCan) {
  EXPECT_EQ(Refusal(kAllReduce, Grid(12, 4), kRdh),
            "all_reduce of this group of 12 cannot run as rdh: its chips do "
            "not form a hypercube; it can run as ring, mesh, single_step_mesh, "
            "kangaring");
  EXPECT_THAT(Refusal(kAllReduce, Grid(11, 4), kKangaRing),
              HasSubstr("not all ranks of each chip"));
  EXPECT_THAT(Refusal(kAllReduce, Grid(3, 3), kKangaRing),
              HasSubstr("in pairs, and a chip has 3"));
  EXPECT_THAT(Refusal(kAllGather, Grid(8, 4), kSingleStepMesh),
              HasSubstr("all_reduce only"));
  EXPECT_THAT(Refusal(kAllReduce, Grid(8, 4), kHierarchical),
              HasSubstr("on one node"));
  EXPECT_THAT(Refusal(kAllReduce, Grid(9, 4, 2), kHierarchical),
              HasSubstr("different numbers of ranks"));
  EXPECT_THAT(Refusal(kAllReduce, Grid(16, 4, 2), kRdh),
              HasSubstr("hierarchical uses it inside them"));
  EXPECT_THAT(Refusal(kAllToAll, Grid(8, 4), kRing),
              HasSubstr("it can run as direct"));
  EXPECT_THAT(Refusal(kBroadcast, Grid(8, 4), kDirect),
              HasSubstr("it can run as ring, mesh"));
}

TEST(PlanChoiceTest, AxesThatDoNotReachEveryChipAreNoHypercube) {
  GroupShape shape = Grid(16, 4);
  shape.hypercube[0][1] = shape.hypercube[0][0];
  EXPECT_THAT(Refusal(kAllReduce, shape, kRdh), HasSubstr("hypercube"));
}

TEST(PlanChoiceTest, InconsistentShapesAndProblemsAreInternalFaults) {
  const auto id = [](const Problem& p, const GroupShape& s) {
    const auto plan = MakePlan(p, s);
    return plan.ok() ? "" : DiagnosticOf(plan.status()).id;
  };
  GroupShape shape = Grid(8, 4);
  shape.nodes[0].cycles[0] = {0, 0};
  EXPECT_EQ(id(Make(kAllReduce, {8}), shape), "internal.collective_shape");
  shape = Grid(8, 4);
  shape.chip[3] = 7;
  EXPECT_EQ(id(Make(kAllReduce, {8}), shape), "internal.collective_shape");
  shape = Grid(8, 4);
  Problem p = Make(kPermute, {8});
  p.pairs = {{0, 1}, {2, 1}};
  EXPECT_EQ(id(p, shape), "internal.collective_problem");
  p.pairs = {{0, 1}, {0, 2}};
  EXPECT_EQ(id(p, shape), "internal.collective_problem");
  p.pairs = {{0, 8}};
  EXPECT_EQ(id(p, shape), "internal.collective_problem");
  p = Make(kBroadcast, {8});
  p.root = 8;
  EXPECT_EQ(id(p, shape), "internal.collective_problem");
  p = Make(kAllGather, {7});
  p.rows = 2;
  EXPECT_EQ(id(p, shape), "internal.collective_problem");
  EXPECT_EQ(id(Make(kAllToAllV, {}), shape), "internal.collective_problem");
  EXPECT_EQ(id(Make(kSend, {8}), shape), "internal.collective_problem");
}

}  // namespace
}  // namespace trnemu
