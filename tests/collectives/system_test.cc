#include "isa/system.h"

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
using Join = SystemDescription::Join;

const SystemDescription& Find(std::string_view name) {
  const auto system = FindSystem(name);
  EXPECT_TRUE(system.ok()) << system.status();
  static std::vector<std::shared_ptr<const SystemDescription>> kept;
  kept.push_back(*system);
  return *kept.back();
}

Diagnostic Refusal(const absl::Status& status) {
  EXPECT_FALSE(status.ok());
  return DiagnosticOf(status);
}

// The description of `system` with its first `from` replaced by `to`.
std::string With(std::string_view system, const std::string& from,
                 const std::string& to) {
  std::string text = Find(system).text;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The line with `field` left out, to the end of its block.
std::string Without(std::string_view system, const std::string& field) {
  std::string text = Find(system).text;
  const size_t at = text.find("  " + field + " {");
  EXPECT_NE(at, std::string::npos) << field;
  return text.erase(at, text.find('}', at) + 1 - at);
}

std::string RefusedWith(const std::string& text) {
  const auto system = ParseSystem(text, "my.textproto");
  const Diagnostic d = Refusal(system.status());
  EXPECT_EQ(d.id, "system.file");
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message, HasSubstr("my.textproto"));
  return d.message;
}

TEST(System, EveryDescriptionIsFoundByTheNameItHasWhateverItsCase) {
  EXPECT_THAT(
      SystemNames(),
      ElementsAre("inf2.24xlarge", "inf2.48xlarge", "inf2.8xlarge",
                  "inf2.xlarge", "trn1.2xlarge", "trn1.32xlarge",
                  "trn1n.32xlarge", "trn2-ultraserver", "trn2.3xlarge",
                  "trn2.48xlarge", "trn2u.48xlarge", "trn3-gen1", "trn3-gen2"));
  for (const std::string& name : SystemNames()) {
    EXPECT_EQ(Find(name).name, name);
    EXPECT_FALSE(Find(name).constants.empty());
  }
  EXPECT_EQ(Find("TRN2-UltraServer").name, "trn2-ultraserver");
}

// The instance tables of about-neuron/arch/neuron-hardware/*-arch.rst.
TEST(System, ChipsAndTheirJoinAreThoseOfTheDocuments) {
  const struct {
    const char* name;
    Target target;
    Join join;
    int chips;
    int cores_per_chip;
  } kDocumented[] = {{"trn1.2xlarge", Target::kTrn1, Join::kSingle, 1, 2},
                     {"trn1.32xlarge", Target::kTrn1, Join::kTorus, 16, 2},
                     {"trn1n.32xlarge", Target::kTrn1, Join::kTorus, 16, 2},
                     {"inf2.xlarge", Target::kTrn1, Join::kSingle, 1, 2},
                     {"inf2.8xlarge", Target::kTrn1, Join::kSingle, 1, 2},
                     {"inf2.24xlarge", Target::kTrn1, Join::kLine, 6, 2},
                     {"inf2.48xlarge", Target::kTrn1, Join::kRing, 12, 2},
                     {"trn2.3xlarge", Target::kTrn2, Join::kSingle, 1, 8},
                     {"trn2.48xlarge", Target::kTrn2, Join::kTorus, 16, 8},
                     {"trn2u.48xlarge", Target::kTrn2, Join::kTorus, 16, 8},
                     {"trn2-ultraserver", Target::kTrn2, Join::kTorus, 64, 8},
                     {"trn3-gen1", Target::kTrn3, Join::kSwitch, 64, 8},
                     {"trn3-gen2", Target::kTrn3, Join::kSwitch, 144, 8}};
  for (const auto& d : kDocumented) {
    const SystemDescription& s = Find(d.name);
    EXPECT_EQ(s.target, d.target) << d.name;
    EXPECT_EQ(s.join, d.join) << d.name;
    EXPECT_EQ(s.chips(), d.chips) << d.name;
    EXPECT_EQ(s.cores_per_chip, d.cores_per_chip) << d.name;
  }
}

TEST(System, BandwidthsAreThePublishedOnesOfAChipOverItsLinks) {
  EXPECT_EQ(Find("trn1.32xlarge").link_bandwidth, 384.0 / 4);
  EXPECT_EQ(Find("trn1n.32xlarge").link_bandwidth, 768.0 / 4);
  EXPECT_EQ(Find("trn2.48xlarge").link_bandwidth, 1024.0 / 4);
  EXPECT_EQ(Find("trn2-ultraserver").node_link_bandwidth, 256.0 / 2);
  EXPECT_DOUBLE_EQ(Find("inf2.48xlarge").link_bandwidth,
                   192.0 * (1 << 30) / 2 / 1e9);
  EXPECT_EQ(Find("trn2.48xlarge").network_bandwidth, 200.0 / 8);
  EXPECT_EQ(Find("trn1.32xlarge").network_bandwidth, 800.0 / 16 / 8);
  EXPECT_EQ(Find("trn1n.32xlarge").network_bandwidth, 1600.0 / 16 / 8);
  EXPECT_EQ(Find("trn1.2xlarge").network_bandwidth, 25.0 / 8);
  EXPECT_EQ(Find("trn3-gen2").network_bandwidth, 28800.0 / 144 / 8);
  EXPECT_EQ(Find("trn3-gen2").switch_bandwidth, 4 * 64.0);  // PCIe Gen6 x8
  EXPECT_EQ(Find("trn3-gen2").rack_switch_bandwidth, 5 * 64.0);
  EXPECT_EQ(Find("trn3-gen2").rack_link_bandwidth, 2 * 64.0);
  EXPECT_TRUE(Find("trn3-gen1").assumed_timing);
  EXPECT_TRUE(Find("trn3-gen2").assumed_timing);
  EXPECT_FALSE(Find("trn2-ultraserver").assumed_timing);
}

double DmaOf(const SystemDescription& s) {
  const DmaLaw& law = HardwareFor(s.target).dma_law(DmaDirection::kHbm);
  return law.start_ns + law.payload_fixed_ns + law.notify_ns;
}

TEST(System, AHopToTheNextChipTakesOneToTwoMicroseconds) {
  for (const std::string& name : SystemNames()) {
    const SystemDescription& s = Find(name);
    if (s.chips() == 1) continue;
    const double latency =
        s.join == Join::kSwitch ? 2 * s.switch_latency : s.link_latency;
    const double hop = DmaOf(s) + s.cc_step + latency;
    EXPECT_GE(hop, 1000) << name;
    EXPECT_LE(hop, 2000) << name;
  }
}

// neuron-runtime/about/collectives.rst: 15 us from HBM to HBM.
TEST(System, TheNetworkTakesFifteenMicrosecondsFromHbmToHbm) {
  for (const char* name : {"trn2.48xlarge", "trn1.32xlarge", "trn3-gen2"}) {
    const SystemDescription& s = Find(name);
    EXPECT_DOUBLE_EQ(s.network_latency + DmaOf(s), 15000) << name;
  }
}

// spec/timing.md 5: 6.2 us. Two rows of the torus: three links at most.
TEST(System, TwoStepsOfMeshOverEightChipsTakeWhatWasMeasured) {
  const SystemDescription& s = Find("trn2.48xlarge");
  EXPECT_NEAR(
      s.start + 2 * (s.cc_step + DmaOf(s)) + 3 * s.link_latency + s.finish,
      6200, 100);
}

TEST(System, AStarMakesNodesOnTheNetwork) {
  const SystemDescription& four = Find("trn2.48xlarge*4");
  EXPECT_EQ(four.name, "trn2.48xlarge*4");
  EXPECT_EQ(four.nodes, 4);
  EXPECT_EQ(four.nodes_in_ring, 1);
  EXPECT_EQ(four.chips(), 64);
  const SystemDescription& two = Find("TRN2-ULTRASERVER*2");
  EXPECT_EQ(two.nodes, 8);
  EXPECT_EQ(two.nodes_in_ring, 4);
  EXPECT_EQ(Find("trn2.48xlarge*1").name, "trn2.48xlarge");
  EXPECT_EQ(Find("trn2.48xlarge*4096").chips(), 65536);
}

TEST(System, NamesThatAreNoneAreRefusedWithTheNearest) {
  const Diagnostic d = Refusal(FindSystem("trn2.48xlrge").status());
  EXPECT_EQ(d.id, "option.system");
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message, HasSubstr("trn2.48xlarge"));
  EXPECT_THAT(d.remedy, AllOf(HasSubstr("inf2.48xlarge"),
                              HasSubstr("trn3-gen2"), HasSubstr("NAME*N")));
  for (const char* name :
       {"", "*", "*4", "trn2.48xlarge*", "trn2.48xlarge*0", "trn2.48xlarge*-1",
        "trn2.48xlarge*x", "trn2.48xlarge*4x", "trn2.48xlarge*4097",
        "trn2.48xlarge*99999999999999999999", "trn2.48xlarge*2*2"}) {
    EXPECT_EQ(Refusal(FindSystem(name).status()).id, "option.system") << name;
  }
}

TEST(System, WithoutANetworkThereAreNotSeveral) {
  const Diagnostic d = Refusal(FindSystem("inf2.48xlarge*2").status());
  EXPECT_EQ(d.id, "option.system");
  EXPECT_THAT(d.message, HasSubstr("inf2.48xlarge has no network"));
  EXPECT_EQ(Find("inf2.48xlarge*1").chips(), 12);
}

TEST(System, AFileIsReadAsTheBuiltInOnes) {
  for (const std::string& name : SystemNames()) {
    const auto again = ParseSystem(Find(name).text, "copy.textproto");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ((*again)->name, name);
    EXPECT_EQ((*again)->text, Find(name).text);
  }
  const auto mine = ParseSystem(
      With("trn2.48xlarge", "bandwidth { value: 256", "bandwidth { value: 300"),
      "my.textproto");
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_EQ((*mine)->link_bandwidth, 300);
}

TEST(System, MistakesOfTheFormatAreRefusedWithTheirPath) {
  EXPECT_THAT(RefusedWith("hello"), HasSubstr("line 1"));
  EXPECT_THAT(RefusedWith(""), HasSubstr("name is missing"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "  cc_step", "  cc_stp")),
              AllOf(HasSubstr("collectives.cc_stp"), HasSubstr("line ")));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "join: TORUS", "join: CUBE")),
              HasSubstr("layout.join"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "value: 256 ", "")),
              HasSubstr("links.bandwidth.value is missing"));
  EXPECT_THAT(
      RefusedWith(With("trn2.48xlarge", "unit: \"B/ns\"", "unit: \"GB/s\"")),
      HasSubstr("links.bandwidth.unit is \"GB/s\"; it must be B/ns"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "status: FITTED",
                               "status: STATUS_UNSET")),
              HasSubstr("links.latency.status is missing"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "value: 100 ", "value: -1 ")),
              HasSubstr("links.latency.value is -1; it must not be negative"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "value: 100 ", "value: nan ")),
              HasSubstr("links.latency.value"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "value: 16 ", "value: 15.5 ")),
              HasSubstr("layout.chips_per_node.value is 15.5"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "torus { value: 4 ",
                               "torus { value: 4.5 ")),
              HasSubstr("layout.torus[0].value is 4.5"));
}

TEST(System, WhatIsMissingIsNamed) {
  for (const char* field : {"cc_step", "start", "finish", "packet_bytes"}) {
    EXPECT_THAT(RefusedWith(Without("trn2.48xlarge", field)),
                HasSubstr(std::string("collectives.") + field + " is missing"));
  }
  for (const char* field : {"nodes", "chips_per_node"}) {
    EXPECT_THAT(RefusedWith(Without("trn2.48xlarge", field)),
                HasSubstr(std::string("layout.") + field + " is missing"));
  }
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "join: TORUS", "")),
              HasSubstr("layout.join is missing"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "target: \"trn2\"", "")),
              HasSubstr("target is missing"));
  EXPECT_THAT(RefusedWith(Without("trn2.48xlarge", "cores")),
              HasSubstr("chip.cores is missing"));
}

TEST(System, WhatAJoinNeedsIsNamedToo) {
  EXPECT_THAT(RefusedWith(Without("trn2.48xlarge", "bandwidth")),
              HasSubstr("links.bandwidth is missing"));
  EXPECT_THAT(RefusedWith(Without("trn2.48xlarge", "latency")),
              HasSubstr("links.latency is missing"));
  EXPECT_THAT(RefusedWith(Without("trn2-ultraserver", "node_bandwidth")),
              HasSubstr("links.node_bandwidth is missing"));
  EXPECT_THAT(RefusedWith(Without("trn2.48xlarge", "network_latency")),
              HasSubstr("links.network_latency is missing"));
  EXPECT_THAT(RefusedWith(Without("trn3-gen2", "chips_per_switch")),
              HasSubstr("layout.chips_per_switch is missing"));
  EXPECT_THAT(RefusedWith(Without("trn3-gen2", "switch_bandwidth")),
              HasSubstr("links.switch_bandwidth is missing"));
  EXPECT_THAT(RefusedWith(Without("trn3-gen2", "rack_switch_bandwidth")),
              HasSubstr("links.rack_switch_bandwidth is missing"));
  EXPECT_THAT(RefusedWith(Without("trn3-gen2", "rack_bandwidth")),
              HasSubstr("links.rack_bandwidth is missing"));
  // Several nodes and no ring of nodes: the network has to join them.
  EXPECT_THAT(RefusedWith(With("inf2.48xlarge", "nodes { value: 1 ",
                               "nodes { value: 2 ")),
              HasSubstr("links.network_bandwidth is missing"));
}

TEST(System, WhatAJoinHasNotIsRefused) {
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "join: TORUS", "join: RING")),
              HasSubstr("layout.torus is of a torus, which this system has "
                        "not"));
  EXPECT_THAT(
      RefusedWith(With("trn2.48xlarge", "  network_bandwidth",
                       "  switch_bandwidth { value: 1 unit: \"B/ns\" status: "
                       "ASSUMED source: \"x\" }\n  network_bandwidth")),
      HasSubstr("links.switch_bandwidth is of join SWITCH"));
  EXPECT_THAT(
      RefusedWith(With("trn2.48xlarge", "  network_bandwidth",
                       "  node_bandwidth { value: 1 unit: \"B/ns\" status: "
                       "ASSUMED source: \"x\" }\n  network_bandwidth")),
      HasSubstr("links.node_bandwidth is of nodes in rings"));
}

TEST(System, ValuesThatDoNotFitTogetherAreRefused) {
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "torus { value: 4 ",
                               "torus { value: 3 ")),
              HasSubstr("layout.torus has 12 chips, but layout.chips_per_node "
                        "is 16"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "torus { value: 4 ",
                               "torus { value: 0 ")),
              HasSubstr("layout.torus[0].value is 0"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "target: \"trn2\"",
                               "target: \"trn9\"")),
              HasSubstr("target is \"trn9\""));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "target: \"trn2\"",
                               "target: \"trn1\"")),
              HasSubstr("chip.cores.value is 8, but a chip of trn1 has 2"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "name: \"trn2.48xlarge\"",
                               "name: \"a*2\"")),
              HasSubstr("name is \"a*2\""));
  EXPECT_THAT(RefusedWith(With("trn2-ultraserver", "nodes { value: 4 ",
                               "nodes { value: 6 ")),
              HasSubstr("no multiple of layout.nodes_in_ring, 4"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "nodes { value: 1 ",
                               "nodes { value: 5000 ")),
              HasSubstr("layout.nodes x layout.chips_per_node is 80000"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "nodes { value: 1 ",
                               "nodes { value: 0 ")),
              HasSubstr("layout.nodes.value is 0"));
  EXPECT_THAT(RefusedWith(With("inf2.xlarge", "chips_per_node { value: 1 ",
                               "chips_per_node { value: 2 ")),
              HasSubstr("layout.join is SINGLE"));
  EXPECT_THAT(RefusedWith(With("inf2.48xlarge", "value: 12 ", "value: 1 ")),
              HasSubstr("layout.chips_per_node.value is 1"));
  EXPECT_THAT(
      RefusedWith(With("trn3-gen2", "racks { value: 2 ", "racks { value: 3 ")),
      HasSubstr("layout.racks.value is 3"));
  EXPECT_THAT(RefusedWith(With("trn3-gen2", "chips_per_switch { value: 4 ",
                               "chips_per_switch { value: 5 ")),
              HasSubstr("no multiple of layout.racks x "
                        "layout.chips_per_switch, 10"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "value: 256 ", "value: 0 ")),
              HasSubstr("links.bandwidth.value is 0; it must be positive"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "rdh_up_to { value: 58720256",
                               "rdh_up_to { value: 1")),
              HasSubstr("collectives.rdh_up_to is 1, below"));
  EXPECT_THAT(RefusedWith(With("trn2.48xlarge", "packet_bytes { value: 65536",
                               "packet_bytes { value: 0")),
              HasSubstr("collectives.packet_bytes.value is 0"));
}

TEST(System, RangesThatAreLeftOutAreNoRanges) {
  const auto system =
      ParseSystem(Without("trn2.48xlarge", "mesh_up_to"), "my.textproto");
  ASSERT_TRUE(system.ok()) << system.status();
  EXPECT_EQ((*system)->mesh_up_to, -1);
  EXPECT_EQ((*system)->rdh_up_to, 56 << 20);
}

}  // namespace
}  // namespace trnemu
