// Ranks, links and routes.
#include "collectives/topology.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/diagnostic.h"
#include "tests/collectives/topology_harness.h"

namespace trnemu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Diagnostic Refusal(std::string_view name, int ranks, int lnc,
                   std::vector<std::string> failed = {}) {
  const auto topology = Topology::Make(*FindSystem(name), ranks, lnc, failed);
  EXPECT_FALSE(topology.ok());
  return topology.ok() ? Diagnostic{} : DiagnosticOf(topology.status());
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
        const auto way = t->Route(a, b);
        for (const int32_t link : *way) {
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
        const auto way = t->Route(a, b);
        for (const int32_t link : *way) {
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
  const auto way = t->Route(3, 37);
  for (const int32_t link : *way) {
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

}  // namespace
}  // namespace trnemu
