// Cycles, exchange partners and members of replica groups.
#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "collectives/topology.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/diagnostic.h"
#include "tests/collectives/topology_harness.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Ranks = std::vector<int32_t>;

Ranks AllRanks(const Topology& t) {
  Ranks ranks(static_cast<size_t>(t.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// One rank of each chip.
Ranks OneOfEach(const Topology& t, const std::vector<int>& chips) {
  Ranks ranks;
  for (const int chip : chips) ranks.push_back(chip * t.ranks_per_chip());
  return ranks;
}

GroupShape ShapeOf(const Topology& t, const Ranks& group) {
  const auto shape = t.ShapeOf(group);
  EXPECT_TRUE(shape.ok()) << shape.status();
  return *shape;
}

// Checks that the cycles go over all chips of the node and use only links that
// are up, none twice.
void CheckCycles(const Topology& t, const GroupShape::NodeCycles& node) {
  const auto up = LinksUp(t);
  std::set<std::pair<int, int>> used;
  for (const auto& cycle : node.cycles) {
    std::vector<int32_t> sorted = cycle;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int32_t> all(node.chips.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
    for (size_t i = 0; i < cycle.size(); ++i) {
      const std::pair link(
          node.chips[static_cast<size_t>(cycle[i])],
          node.chips[static_cast<size_t>(cycle[(i + 1) % cycle.size()])]);
      EXPECT_EQ(up.count(link), 1u) << link.first << " > " << link.second;
      EXPECT_TRUE(used.insert(link).second)
          << link.first << " > " << link.second << " twice";
    }
  }
}

size_t CyclesOf(const Topology& t, const std::vector<int>& chips) {
  const GroupShape shape = ShapeOf(t, OneOfEach(t, chips));
  EXPECT_THAT(shape.nodes, SizeIs(1));
  CheckCycles(t, shape.nodes[0]);
  return shape.nodes[0].cycles.size();
}

TEST(GroupShape, AFullTorusHasFourDirectedCyclesThatUseEveryLink) {
  for (const char* name : {"trn2.48xlarge", "trn1.32xlarge"}) {
    const auto system = *FindSystem(name);
    const auto t = Make(name, system->cores(), 1);
    const GroupShape shape = ShapeOf(*t, AllRanks(*t));
    ASSERT_THAT(shape.nodes, SizeIs(1));
    EXPECT_THAT(shape.nodes[0].chips, SizeIs(16));
    // 4 cycles of 16 links: all 64.
    EXPECT_THAT(shape.nodes[0].cycles, SizeIs(4));
    CheckCycles(*t, shape.nodes[0]);
  }
}

TEST(GroupShape, PartsOfATorusHaveTheCyclesThatTheirLinksAllow) {
  const auto t = Make("trn2.48xlarge", 64, 2);
  EXPECT_EQ(CyclesOf(*t, {0, 1, 2, 3}), 2u);              // a row is a ring
  EXPECT_EQ(CyclesOf(*t, {0, 4, 8, 12}), 2u);             // a column, too
  EXPECT_EQ(CyclesOf(*t, {0, 1, 4, 5}), 2u);              // a square
  EXPECT_EQ(CyclesOf(*t, {0, 1, 2, 3, 4, 5, 6, 7}), 2u);  // degree 3
  EXPECT_EQ(CyclesOf(*t, {0, 1, 4, 5, 8, 9, 12, 13}), 2u);
  // 3x4: degree 3 at the rims.
  EXPECT_EQ(CyclesOf(*t, {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14}), 2u);
  EXPECT_EQ(CyclesOf(*t, {6, 7}), 1u);  // there and back
  EXPECT_THAT(ShapeOf(*t, OneOfEach(*t, {9})).nodes[0].cycles,
              ElementsAre(ElementsAre(0)));
}

TEST(GroupShape, WithoutACycleOfLinksTheChipsAreVisitedInOrder) {
  const auto t = Make("trn2.48xlarge", 64, 2);
  for (const std::vector<int>& chips :
       {std::vector<int>{0, 1, 2}, {0, 5, 10, 15}, {0, 1, 2, 4, 5}}) {
    const GroupShape shape = ShapeOf(*t, OneOfEach(*t, chips));
    const auto& cycles = shape.nodes[0].cycles;
    ASSERT_THAT(cycles, SizeIs(2));
    std::vector<int32_t> order(chips.size());
    std::iota(order.begin(), order.end(), 0);
    EXPECT_EQ(cycles[0], order);
    std::reverse(order.begin() + 1, order.end());
    EXPECT_EQ(cycles[1], order);
  }
  EXPECT_THAT(ShapeOf(*t, OneOfEach(*t, {0, 5})).nodes[0].cycles,
              ElementsAre(ElementsAre(0, 1)));
}

TEST(GroupShape, ARingHasBothItsDirectionsALineNone) {
  const auto ring = Make("inf2.48xlarge", 24, 1);
  const GroupShape shape = ShapeOf(*ring, AllRanks(*ring));
  EXPECT_THAT(shape.nodes[0].cycles, SizeIs(2));
  CheckCycles(*ring, shape.nodes[0]);
  EXPECT_THAT(RouteOf(*ring, 0, 11), ElementsAre("chip 0 > chip 11"));
  const auto line = Make("inf2.24xlarge", 12, 1);
  EXPECT_THAT(RouteOf(*line, 0, 5), SizeIs(5));
  EXPECT_THAT(ShapeOf(*line, AllRanks(*line)).nodes[0].cycles,
              ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5),
                          ElementsAre(0, 5, 4, 3, 2, 1)));
}

TEST(GroupShape, ChipsOnSwitchesAreVisitedInOrderAndBack) {
  const auto t = Make("trn3-gen1", 256, 2);
  const auto cycles = ShapeOf(*t, AllRanks(*t)).nodes[0].cycles;
  ASSERT_THAT(cycles, SizeIs(2));
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(cycles[0][i], static_cast<int32_t>(i));
    EXPECT_EQ(cycles[1][i], static_cast<int32_t>((64 - i) % 64));
  }
}

TEST(GroupShape, CyclesUseNoLinkThatHasFailed) {
  // Both directions: one pair of cycles is left of 62 links.
  const auto both = Make("trn2.48xlarge", 64, 2, {"0-1"});
  const auto shape = ShapeOf(*both, AllRanks(*both));
  EXPECT_THAT(shape.nodes[0].cycles, SizeIs(2));
  CheckCycles(*both, shape.nodes[0]);
  // One direction: only one of four cycles would go there.
  const auto one = Make("trn2.48xlarge", 64, 2, {"chip 0 > chip 1"});
  const auto shape_of_one = ShapeOf(*one, AllRanks(*one));
  EXPECT_THAT(shape_of_one.nodes[0].cycles, SizeIs(3));
  CheckCycles(*one, shape_of_one.nodes[0]);
}

// Each chip once in every pair, partners of each other; after all axes
// everything has reached everyone.
void CheckHypercube(const std::vector<std::vector<int32_t>>& axes,
                    size_t chips) {
  ASSERT_EQ(size_t{1} << axes.size(), chips);
  std::vector<std::set<int32_t>> has(chips);
  for (size_t i = 0; i < chips; ++i) has[i] = {static_cast<int32_t>(i)};
  for (const auto& partners : axes) {
    ASSERT_EQ(partners.size(), chips);
    const auto before = has;
    for (size_t i = 0; i < chips; ++i) {
      const auto partner = static_cast<size_t>(partners[i]);
      EXPECT_NE(partner, i);
      EXPECT_EQ(partners[partner], static_cast<int32_t>(i));
      has[i].insert(before[partner].begin(), before[partner].end());
    }
  }
  for (const auto& all : has) EXPECT_EQ(all.size(), chips);
}

TEST(GroupShape, TheFourAxesOfATorusExchangeBetweenNeighbours) {
  const auto t = Make("trn2.48xlarge", 64, 2);
  const GroupShape shape = ShapeOf(*t, AllRanks(*t));
  ASSERT_THAT(shape.hypercube, SizeIs(1));
  EXPECT_THAT(shape.hypercube[0], SizeIs(4));
  CheckHypercube(shape.hypercube[0], 16);
  std::set<std::pair<int, int>> links;
  for (const auto& axis : shape.hypercube[0]) {
    for (int chip = 0; chip < 16; ++chip) {
      links.emplace(chip, axis[static_cast<size_t>(chip)]);
    }
  }
  EXPECT_EQ(links, LinksUp(*t));  // each of them once
}

TEST(GroupShape, OtherPowersOfTwoFormHypercubesAndOtherNumbersNone) {
  const auto t = Make("trn2.48xlarge", 64, 2);
  for (const std::vector<int>& chips : {std::vector<int>{3},
                                        {0, 9},
                                        {0, 1, 2, 3},
                                        {1, 5, 9, 13},
                                        {0, 1, 4, 5, 8, 9, 12, 13},
                                        {0, 1, 2, 3, 8, 9, 10, 11},
                                        {0, 3, 5, 6, 9, 10, 12, 15},
                                        {0, 1, 2, 4}}) {
    const GroupShape shape = ShapeOf(*t, OneOfEach(*t, chips));
    CheckHypercube(shape.hypercube[0], chips.size());
  }
  for (const std::vector<int>& chips :
       {std::vector<int>{0, 1, 2}, {0, 1, 2, 4, 5, 6}}) {
    EXPECT_THAT(ShapeOf(*t, OneOfEach(*t, chips)).hypercube[0], IsEmpty());
  }
  const auto u = Make("trn3-gen1", 256, 2);
  CheckHypercube(ShapeOf(*u, AllRanks(*u)).hypercube[0], 64);
}

TEST(GroupShape, MembersAreNumberedInTheOrderOfTheGroup) {
  const auto t = Make("trn2-ultraserver", 256, 2);
  // Chips 17, 0, 17, 1, 0: ranks 4 a chip.
  const GroupShape shape = ShapeOf(*t, {70, 3, 68, 5, 0});
  EXPECT_EQ(shape.members, 5);
  EXPECT_THAT(shape.chip, ElementsAre(17, 0, 17, 1, 0));
  EXPECT_THAT(shape.node, ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(shape.local, ElementsAre(0, 0, 1, 0, 1));
  ASSERT_THAT(shape.nodes, SizeIs(2));
  EXPECT_THAT(shape.nodes[0].chips, ElementsAre(0, 1));
  EXPECT_THAT(shape.nodes[1].chips, ElementsAre(17));
  EXPECT_THAT(shape.nodes[1].cycles, ElementsAre(ElementsAre(0)));
  // Nodes are numbered by those the group has.
  EXPECT_THAT(ShapeOf(*t, {255, 128}).node, ElementsAre(1, 0));
}

TEST(GroupShape, AGroupHasEveryRankOnceAndOnlyRanksThatThereAre) {
  const auto t = Make("trn2.48xlarge", 8, 2);
  for (const Ranks& group : {Ranks{}, Ranks{0, 8}, Ranks{-1}, Ranks{1, 2, 1}}) {
    const Diagnostic d = DiagnosticOf(t->ShapeOf(group).status());
    EXPECT_EQ(d.id, "collective.group");
    EXPECT_EQ(d.category, Category::kInput);
  }
}

// A user's torus with dimensions of two and three.
TEST(GroupShape, ADimensionOfTwoHasOneLinkBetweenItsChips) {
  std::string text = (*FindSystem("trn2.48xlarge"))->text;
  for (const char* dims : {"value: 2 ", "value: 3 "}) {
    const size_t at = text.find("torus { value: 4 ") + 8;
    text.replace(at, 9, dims);
  }
  const size_t at = text.find("value: 16 ");
  text.replace(at, 10, "value: 6 ");
  const auto system = ParseSystem(text, "my.textproto");
  ASSERT_TRUE(system.ok()) << system.status();
  const auto t = *Topology::Make(*system, 24, 2, {});
  // A chip has one link along two chips and two along three.
  EXPECT_EQ(LinksUp(*t).size(), 6u * 3);
  EXPECT_THAT(RouteOf(*t, 1, 0), ElementsAre("chip 1 > chip 0"));
  EXPECT_THAT(RouteOf(*t, 0, 4), ElementsAre("chip 0 > chip 4"));
  EXPECT_EQ(CyclesOf(*t, {0, 1, 2, 3, 4, 5}), 2u);
}

TEST(GroupShape, TheSameSystemGivesTheSameShape) {
  const auto a = Make("trn2-ultraserver", 512, 1);
  const auto b = Make("trn2-ultraserver", 512, 1);
  const GroupShape first = ShapeOf(*a, AllRanks(*a));
  const GroupShape second = ShapeOf(*b, AllRanks(*b));
  ASSERT_THAT(first.nodes, SizeIs(4));
  for (size_t node = 0; node < 4; ++node) {
    EXPECT_EQ(first.nodes[node].cycles, second.nodes[node].cycles);
    EXPECT_THAT(first.nodes[node].cycles, SizeIs(4));
    CheckCycles(*a, first.nodes[node]);
    // All nodes alike.
    EXPECT_EQ(first.nodes[node].cycles, first.nodes[0].cycles);
  }
}

}  // namespace
}  // namespace trnemu
