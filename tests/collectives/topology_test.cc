#include "collectives/topology.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Ranks = std::vector<int32_t>;

std::shared_ptr<const Topology> Make(std::string_view name, int ranks, int lnc,
                                     std::vector<std::string> failed = {}) {
  const auto system = FindSystem(name);
  EXPECT_TRUE(system.ok()) << system.status();
  auto topology = Topology::Make(*system, ranks, lnc, failed);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

Diagnostic Refusal(std::string_view name, int ranks, int lnc,
                   std::vector<std::string> failed = {}) {
  const auto topology = Topology::Make(*FindSystem(name), ranks, lnc, failed);
  EXPECT_FALSE(topology.ok());
  return topology.ok() ? Diagnostic{} : DiagnosticOf(topology.status());
}

std::vector<std::string> RouteOf(const Topology& t, int from, int to) {
  std::vector<std::string> names;
  const auto route = t.Route(from, to);
  EXPECT_TRUE(route.ok()) << route.status();
  if (!route.ok()) return {"none"};
  for (const int32_t link : *route) {
    names.push_back(t.links()[static_cast<size_t>(link)].name);
  }
  return names;
}

// Of the links that are up, between chips: from, to.
std::set<std::pair<int, int>> LinksUp(const Topology& t) {
  std::set<std::pair<int, int>> up;
  for (size_t i = 0; i < t.links().size(); ++i) {
    const Link& link = t.links()[i];
    if (link.kind == Link::Kind::kChip && !t.failed(static_cast<int32_t>(i))) {
      EXPECT_TRUE(up.emplace(link.from, link.to).second) << link.name;
    }
  }
  return up;
}

// Links of the shortest way over direct links, by breadth first search.
int Distance(const std::set<std::pair<int, int>>& up, int from, int to) {
  std::map<int, int> distance = {{from, 0}};
  std::queue<int> reached;
  for (reached.push(from); !reached.empty(); reached.pop()) {
    const int at = reached.front();
    for (auto l = up.lower_bound({at, -1}); l != up.end() && l->first == at;
         ++l) {
      if (distance.emplace(l->second, distance[at] + 1).second) {
        reached.push(l->second);
      }
    }
  }
  return distance.count(to) != 0 ? distance[to] : -1;
}

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

// neuron-runtime/about/collectives.rst:110: four or eight ranks a chip of trn2.
TEST(Topology, RanksAreOnePhysicalCoreOrTwo) {
  EXPECT_EQ(Make("trn2.48xlarge", 64, 2)->ranks_per_chip(), 4);
  EXPECT_EQ(Make("trn2.48xlarge", 128, 1)->ranks_per_chip(), 8);
  EXPECT_EQ(Make("trn2-ultraserver", 256, 2)->nodes(), 4);
  EXPECT_EQ(Make("trn2-ultraserver", 512, 1)->chips(), 64);
  EXPECT_EQ(Make("trn1.32xlarge", 32, 1)->chips(), 16);
  EXPECT_EQ(Make("trn3-gen1", 512, 1)->chips(), 64);
  EXPECT_EQ(Make("trn3-gen2", 576, 2)->chips(), 144);
  EXPECT_EQ(Make("inf2.48xlarge", 24, 1)->chips(), 12);
  const auto t = Make("trn2.48xlarge", 64, 2);
  EXPECT_EQ(t->ChipOf(3), 0);
  EXPECT_EQ(t->ChipOf(4), 1);
}

TEST(Topology, OneRankMoreThanThereIsIsRefused) {
  const struct {
    const char* name;
    int ranks, lnc;
  } kFull[] = {{"trn2.48xlarge", 64, 2},     {"trn2.48xlarge", 128, 1},
               {"trn2-ultraserver", 256, 2}, {"trn2-ultraserver", 512, 1},
               {"trn1.32xlarge", 32, 1},     {"inf2.xlarge", 2, 1},
               {"trn2.48xlarge*4", 256, 2}};
  for (const auto& full : kFull) {
    Make(full.name, full.ranks, full.lnc);
    const Diagnostic d = Refusal(full.name, full.ranks + 1, full.lnc);
    EXPECT_EQ(d.id, "option.ranks");
    EXPECT_EQ(d.category, Category::kInput);
    EXPECT_THAT(d.message, HasSubstr(std::to_string(full.ranks)));
  }
  EXPECT_EQ(Refusal("trn2.48xlarge", 0, 2).id, "option.ranks");
  EXPECT_EQ(Refusal("trn2.48xlarge", -1, 2).id, "option.ranks");
}

TEST(Topology, LogicalCoresOfTwoAreOfTrn2AndTrn3) {
  const Diagnostic d = Refusal("trn1.32xlarge", 16, 2);
  EXPECT_EQ(d.id, "option.lnc");
  EXPECT_THAT(d.message, HasSubstr("trn1.32xlarge"));
  EXPECT_EQ(Refusal("inf2.48xlarge", 12, 2).id, "option.lnc");
  EXPECT_EQ(Refusal("trn2.48xlarge", 1, 3).id, "option.lnc");
  EXPECT_EQ(Refusal("trn2.48xlarge", 1, 0).id, "option.lnc");
}

TEST(Topology, RanksThatFillNoChipAreOnTheFirstChips) {
  const auto t = Make("trn2.48xlarge", 5, 2);
  EXPECT_EQ(t->chips(), 2);
  EXPECT_EQ(t->nodes(), 1);
  // Data goes through the other chips all the same.
  EXPECT_THAT(t->links(), SizeIs(64));
}

TEST(Topology, ATorusOfFourByFourHasFourLinksAChipAndDirection) {
  const auto t = Make("trn2.48xlarge", 64, 2);
  std::map<int, int> out, in;
  for (const Link& link : t->links()) {
    EXPECT_EQ(link.kind, Link::Kind::kChip);
    EXPECT_EQ(link.bandwidth, 256);
    EXPECT_EQ(link.latency_ns, 100);
    EXPECT_EQ(link.name, "chip " + std::to_string(link.from) + " > chip " +
                             std::to_string(link.to));
    ++out[link.from];
    ++in[link.to];
  }
  for (int chip = 0; chip < 16; ++chip) {
    EXPECT_EQ(out[chip], 4);
    EXPECT_EQ(in[chip], 4);
  }
}

TEST(Topology, RoutesOnATorusAreAsLongAsItsDimensionsSay) {
  const auto t = Make("trn2.48xlarge", 64, 2);
  const auto up = LinksUp(*t);
  size_t longest = 0;
  for (int a = 0; a < 16; ++a) {
    for (int b = 0; b < 16; ++b) {
      const int dx = (b % 4 - a % 4 + 4) % 4, dy = (b / 4 - a / 4 + 4) % 4;
      const auto length =
          static_cast<size_t>(std::min(dx, 4 - dx) + std::min(dy, 4 - dy));
      EXPECT_THAT(RouteOf(*t, a, b), SizeIs(length)) << a << " " << b;
      EXPECT_EQ(Distance(up, a, b), static_cast<int>(length));
      longest = std::max(longest, length);
    }
  }
  EXPECT_EQ(longest, 4u);
}

TEST(Topology, RoutesGoAlongTheFirstDimensionFirstTheShorterWayRound) {
  const auto t = Make("trn2.48xlarge", 64, 2);
  EXPECT_THAT(RouteOf(*t, 0, 5),
              ElementsAre("chip 0 > chip 1", "chip 1 > chip 5"));
  // Round the edges.
  EXPECT_THAT(RouteOf(*t, 0, 15),
              ElementsAre("chip 0 > chip 3", "chip 3 > chip 15"));
  EXPECT_THAT(RouteOf(*t, 15, 0),
              ElementsAre("chip 15 > chip 12", "chip 12 > chip 0"));
  // Two ways as long: the positive one.
  EXPECT_THAT(RouteOf(*t, 1, 3),
              ElementsAre("chip 1 > chip 2", "chip 2 > chip 3"));
  EXPECT_THAT(RouteOf(*t, 3, 1),
              ElementsAre("chip 3 > chip 0", "chip 0 > chip 1"));
  EXPECT_THAT(RouteOf(*t, 8, 0),
              ElementsAre("chip 8 > chip 12", "chip 12 > chip 0"));
  EXPECT_THAT(RouteOf(*t, 7, 7), IsEmpty());
}

TEST(Topology, EveryRouteIsAChainOfLinksFromOneChipToTheOther) {
  for (const char* name : {"trn2-ultraserver", "inf2.48xlarge", "inf2.24xlarge",
                           "trn1.32xlarge"}) {
    const auto system = *FindSystem(name);
    const auto t = Make(name, system->cores(), 1);
    const auto up = LinksUp(*t);
    for (int a = 0; a < t->chips(); ++a) {
      for (int b = 0; b < t->chips(); ++b) {
        int at = a;
        for (const int32_t link : *t->Route(a, b)) {
          EXPECT_EQ(t->links()[static_cast<size_t>(link)].from, at);
          at = t->links()[static_cast<size_t>(link)].to;
        }
        EXPECT_EQ(at, b);
        EXPECT_EQ(t->Route(a, b)->size(), t->Route(b, a)->size());
        EXPECT_EQ(static_cast<int>(t->Route(a, b)->size()), Distance(up, a, b));
      }
    }
  }
}

TEST(Topology, AFailedLinkIsAvoidedByAShortestWayThatIsLeft) {
  for (const char* failed : {"0-1", "chip 0 > chip 1", "0-12", "10-9"}) {
    const auto t = Make("trn2.48xlarge", 64, 2, {failed});
    const auto up = LinksUp(*t);
    EXPECT_EQ(up.size(),
              std::string(failed).find('>') == std::string::npos ? 62u : 63u);
    for (int a = 0; a < 16; ++a) {
      for (int b = 0; b < 16; ++b) {
        for (const int32_t link : *t->Route(a, b)) {
          EXPECT_FALSE(t->failed(link));
        }
        EXPECT_EQ(static_cast<int>(t->Route(a, b)->size()), Distance(up, a, b));
      }
    }
  }
  const auto t = Make("trn2.48xlarge", 64, 2, {"0-1"});
  // Of the ways of three links, by chip 3, 4 or 12, that of the lowest chips.
  EXPECT_THAT(
      RouteOf(*t, 0, 1),
      ElementsAre("chip 0 > chip 3", "chip 3 > chip 2", "chip 2 > chip 1"));
  EXPECT_THAT(RouteOf(*t, 0, 4), ElementsAre("chip 0 > chip 4"));
}

TEST(Topology, OneDirectionCanFailAlone) {
  const auto t = Make("trn2.48xlarge", 64, 2, {"chip 0 > chip 1"});
  EXPECT_THAT(RouteOf(*t, 0, 1), SizeIs(3));
  EXPECT_THAT(RouteOf(*t, 1, 0), ElementsAre("chip 1 > chip 0"));
}

TEST(Topology, AChipThatIsCutOffIsReportedWithBothChipsAndTheFailedLinks) {
  const auto t =
      Make("trn2.48xlarge", 64, 2, {"5-1", "5-4", "5-6", "chip 5 > chip 9"});
  EXPECT_THAT(RouteOf(*t, 0, 5), SizeIs(4));  // still from chip 9
  const auto route = t->Route(5, 0);
  ASSERT_FALSE(route.ok());
  const Diagnostic d = DiagnosticOf(route.status());
  EXPECT_EQ(d.id, "link.unreachable");
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message,
              AllOf(HasSubstr("from chip 5"), HasSubstr("to chip 0")));
  ASSERT_THAT(d.details, SizeIs(1));
  EXPECT_THAT(d.details[0].second, HasSubstr("chip 5 > chip 9"));
  EXPECT_THAT(RouteOf(*t, 0, 10), SizeIs(4));
}

TEST(Topology, LinksThatAreNoneAreRefusedWithTheNearest) {
  const Diagnostic d = Refusal("trn2.48xlarge", 64, 2, {"chip 0 > chip l"});
  EXPECT_EQ(d.id, "option.fail_link");
  EXPECT_THAT(d.message, HasSubstr("the nearest is chip 0 > chip 1"));
  EXPECT_THAT(Refusal("trn2.48xlarge", 64, 2, {"0-5"}).message,
              HasSubstr("chip 0 has 0-1, 0-3, 0-4, 0-12"));
  EXPECT_THAT(Refusal("trn2.48xlarge", 64, 2, {"0-16"}).message,
              HasSubstr("the chips are 0 to 15"));
  EXPECT_THAT(Refusal("trn3-gen2", 64, 2, {"0-1"}).message,
              HasSubstr("chip 0 has 0-72"));
  for (const char* name : {"", "-", "3-", "-7", "3--7", "3-7-1", "3 - 7", "0-0",
                           "99999999999-1", "chip 0 > network"}) {
    EXPECT_EQ(Refusal("trn2.48xlarge", 64, 2, {name}).id, "option.fail_link")
        << name;
  }
}

TEST(Topology, AnUltraServerHasRingsOfFourOverItsNodes) {
  const auto t = Make("trn2-ultraserver", 512, 1);
  const auto up = LinksUp(*t);
  EXPECT_EQ(up.size(), 64u * 6);
  for (int chip = 0; chip < 64; ++chip) {
    const int next = (chip + 16) % 64;
    EXPECT_EQ(up.count({chip, next}), 1u);
    EXPECT_EQ(up.count({next, chip}), 1u);
    EXPECT_EQ(t->NodeOfChip(chip), chip / 16);
  }
  for (const Link& link : t->links()) {
    const bool between = link.from / 16 != link.to / 16;
    EXPECT_EQ(link.bandwidth, between ? 128 : 256) << link.name;
  }
  EXPECT_THAT(RouteOf(*t, 0, 48), ElementsAre("chip 0 > chip 48"));
  EXPECT_THAT(RouteOf(*t, 0, 32),
              ElementsAre("chip 0 > chip 16", "chip 16 > chip 32"));
  EXPECT_THAT(RouteOf(*t, 0, 17),
              ElementsAre("chip 0 > chip 1", "chip 1 > chip 17"));
}

TEST(Topology, NodesOfAClusterReachEachOtherThroughTheNetwork) {
  const auto t = Make("trn2.48xlarge*4", 256, 2);
  EXPECT_EQ(t->nodes(), 4);
  EXPECT_THAT(RouteOf(*t, 3, 37),
              ElementsAre("chip 3 > network", "network > chip 37"));
  double latency = 0;
  for (const int32_t link : *t->Route(3, 37)) {
    const Link& l = t->links()[static_cast<size_t>(link)];
    EXPECT_EQ(l.kind, Link::Kind::kNetwork);
    EXPECT_EQ(l.bandwidth, 25);
    latency += l.latency_ns;
  }
  EXPECT_EQ(latency, t->system().network_latency);
  EXPECT_THAT(RouteOf(*t, 16, 21), SizeIs(2));  // inside the second node
}

TEST(Topology, AFailedNetworkLinkIsAvoidedThroughAnotherChip) {
  const auto t = Make("trn2.48xlarge*2", 128, 2,
                      {"chip 3 > network", "network > chip 20"});
  EXPECT_THAT(
      RouteOf(*t, 3, 18),
      ElementsAre("chip 3 > chip 0", "chip 0 > network", "network > chip 18"));
  EXPECT_THAT(RouteOf(*t, 0, 20),
              ElementsAre("chip 0 > network", "network > chip 16",
                          "chip 16 > chip 20"));
}

TEST(Topology, InsideANodeNothingGoesThroughTheNetwork) {
  const auto t = Make("trn2.48xlarge*2", 128, 2, {"5-1", "5-4", "5-6", "5-9"});
  EXPECT_EQ(DiagnosticOf(t->Route(5, 0).status()).id, "link.unreachable");
  EXPECT_THAT(RouteOf(*t, 5, 16), SizeIs(2));
}

TEST(Topology, RingsOfNodesAreJoinedByTheNetworkToo) {
  const auto t = Make("trn2-ultraserver*2", 512, 2);
  EXPECT_EQ(t->nodes(), 8);
  EXPECT_THAT(RouteOf(*t, 0, 48), ElementsAre("chip 0 > chip 48"));
  EXPECT_THAT(RouteOf(*t, 0, 64),
              ElementsAre("chip 0 > network", "network > chip 64"));
}

TEST(Topology, ChipsOfAServerMeetAtItsSwitchThoseOfARackAtTheRacks) {
  const auto t = Make("trn3-gen2", 576, 2);
  EXPECT_THAT(RouteOf(*t, 0, 3),
              ElementsAre("chip 0 > switch", "switch > chip 3"));
  EXPECT_THAT(RouteOf(*t, 0, 71),
              ElementsAre("chip 0 > rack switch", "rack switch > chip 71"));
  EXPECT_THAT(RouteOf(*t, 0, 72), ElementsAre("chip 0 > chip 72"));
  EXPECT_THAT(
      RouteOf(*t, 0, 75),
      ElementsAre("chip 0 > switch", "switch > chip 3", "chip 3 > chip 75"));
  EXPECT_THAT(RouteOf(*t, 143, 0),
              ElementsAre("chip 143 > rack switch", "rack switch > chip 72",
                          "chip 72 > chip 0"));
  const auto bandwidth = [&](int a, int b) {
    return t->links()[static_cast<size_t>((*t->Route(a, b))[0])].bandwidth;
  };
  EXPECT_EQ(bandwidth(0, 3), 256);
  EXPECT_EQ(bandwidth(0, 71), 320);
  EXPECT_EQ(bandwidth(0, 72), 128);
}

TEST(Topology, AroundAFailedSwitchLinkTheRackHelps) {
  const auto t = Make("trn3-gen2", 576, 2, {"chip 0 > switch"});
  EXPECT_THAT(RouteOf(*t, 0, 3),
              ElementsAre("chip 0 > rack switch", "rack switch > chip 3"));
  EXPECT_THAT(RouteOf(*t, 3, 0),
              ElementsAre("chip 3 > switch", "switch > chip 0"));
}

TEST(Topology, AFullTorusHasFourDirectedCyclesThatUseEveryLink) {
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

TEST(Topology, PartsOfATorusHaveTheCyclesThatTheirLinksAllow) {
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

TEST(Topology, WithoutACycleOfLinksTheChipsAreVisitedInOrder) {
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

TEST(Topology, ARingHasBothItsDirectionsALineNone) {
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

TEST(Topology, ChipsOnSwitchesAreVisitedInOrderAndBack) {
  const auto t = Make("trn3-gen1", 256, 2);
  const auto cycles = ShapeOf(*t, AllRanks(*t)).nodes[0].cycles;
  ASSERT_THAT(cycles, SizeIs(2));
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(cycles[0][i], static_cast<int32_t>(i));
    EXPECT_EQ(cycles[1][i], static_cast<int32_t>((64 - i) % 64));
  }
}

TEST(Topology, CyclesUseNoLinkThatHasFailed) {
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

TEST(Topology, TheFourAxesOfATorusExchangeBetweenNeighbours) {
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

TEST(Topology, OtherPowersOfTwoFormHypercubesAndOtherNumbersNone) {
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

TEST(Topology, MembersAreNumberedInTheOrderOfTheGroup) {
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

TEST(Topology, AGroupHasEveryRankOnceAndOnlyRanksThatThereAre) {
  const auto t = Make("trn2.48xlarge", 8, 2);
  for (const Ranks& group : {Ranks{}, Ranks{0, 8}, Ranks{-1}, Ranks{1, 2, 1}}) {
    const Diagnostic d = DiagnosticOf(t->ShapeOf(group).status());
    EXPECT_EQ(d.id, "collective.group");
    EXPECT_EQ(d.category, Category::kInput);
  }
}

// A user's torus with dimensions of two and three.
TEST(Topology, ADimensionOfTwoHasOneLinkBetweenItsChips) {
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

TEST(Topology, TheSameSystemGivesTheSameShape) {
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
