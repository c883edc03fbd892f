// trnemu info --system, --systems.
#include "frontend/cli/system.h"

#include <filesystem>

#include "absl/strings/str_format.h"
#include "frontend/cli/reference.h"

namespace trnemu::cli {
namespace {

using System = std::shared_ptr<const SystemDescription>;

int BestLnc(const SystemDescription& system) {
  return HardwareFor(system.target).features.lnc2 ? 2 : 1;
}

// Ranks of the whole system; 0 where its cores form no logical core of two.
int RanksOf(const SystemDescription& system, int lnc) {
  return lnc > BestLnc(system) ? 0 : system.cores() / lnc;
}

Json RanksJson(const SystemDescription& system) {
  Json json;
  json["lnc1"] = RanksOf(system, 1);
  const int with_two = RanksOf(system, 2);
  json["lnc2"] = with_two == 0 ? Json(nullptr) : Json(with_two);
  return json;
}

// What --systems has of each, too.
Json SummaryJson(const SystemDescription& system) {
  Json json;
  json["name"] = system.name;
  json["target"] = std::string(Name(system.target));
  json["join"] = std::string(Name(system.join));
  json["chips"] = system.chips();
  json["cores_per_chip"] = system.cores_per_chip;
  json["ranks"] = RanksJson(system);
  return json;
}

Json LinksJson(const Topology& topology) {
  constexpr std::array<const char*, 4> kKinds = {"chip", "up", "down",
                                                 "network"};
  Json links = Json::array();
  for (size_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.links()[i];
    Json json;
    json["name"] = link.name;
    json["kind"] = kKinds[static_cast<size_t>(link.kind)];
    json["from"] = link.from < 0 ? Json(nullptr) : Json(link.from);
    json["to"] = link.to < 0 ? Json(nullptr) : Json(link.to);
    json["bandwidth"] = link.bandwidth;
    json["latency_ns"] = link.latency_ns;
    json["failed"] = topology.failed(static_cast<int32_t>(i));
    links.push_back(std::move(json));
  }
  return links;
}

Json SystemJson(const Topology& topology) {
  const SystemDescription& s = topology.system();
  Json json = SummaryJson(s);
  json["nodes"] = s.nodes;
  json["chips_per_node"] = s.chips_per_node;
  json["torus"] = s.dims;
  json["nodes_in_ring"] = s.nodes_in_ring;
  json["racks"] = s.racks;
  json["chips_per_switch"] =
      s.chips_per_switch == 0 ? Json(nullptr) : Json(s.chips_per_switch);
  json["assumed_timing"] = s.assumed_timing;
  json["constants"] = ConstantsJson(s.constants);
  json["links"] = LinksJson(topology);
  return json;
}

std::string Headline(const SystemDescription& s) {
  std::string text = Cat("System ", s.name, ": ", Name(s.target), ", ",
                         Count(s.chips(), "chip"), " of ", s.cores_per_chip,
                         " cores; ranks: ", RanksOf(s, 1), " with lnc 1");
  if (BestLnc(s) == 2) text += Cat(", ", RanksOf(s, 2), " with lnc 2");
  return Cat(
      text, "\n",
      s.assumed_timing ? "Bandwidths are assumed: documents conflict.\n" : "");
}

// An error if chips that have ranks cannot reach each other. If the first chip
// of each node reaches all and is reached by all, every chip reaches every one.
absl::Status CheckReachable(const Topology& topology) {
  const int stride = topology.system().chips_per_node;
  for (int first = 0; first < topology.chips(); first += stride) {
    for (int chip = 0; chip < topology.chips(); ++chip) {
      const auto there = topology.Route(first, chip);
      if (!there.ok()) return there.status();
      const auto back = topology.Route(chip, first);
      if (!back.ok()) return back.status();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Topology>> ReachableTopology(
    const System& system, const SystemArgs& args) {
  auto topology = MakeTopology(system, args.ranks, args.lnc, args.failed);
  if (!topology.ok()) return topology;
  if (!args.failed.empty()) {
    const absl::Status status = CheckReachable(**topology);
    if (!status.ok()) return status;
  }
  return topology;
}

std::string FailedText(const Topology& topology) {
  std::string text;
  for (size_t i = 0; i < topology.links().size(); ++i) {
    if (!topology.failed(static_cast<int32_t>(i))) continue;
    text += Cat(text.empty() ? "\n  failed: " : ", ", topology.links()[i].name);
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

absl::StatusOr<System> SystemOf(const std::string& name) {
  absl::StatusOr<System> system = FindSystem(name);
  std::error_code error;
  if (system.ok() || !std::filesystem::exists(name, error)) return system;
  const absl::StatusOr<std::string> text = ReadText(name);
  if (!text.ok()) return text.status();
  return ParseSystem(*text, name);
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeTopology(
    const System& system, int ranks, int lnc,
    const std::vector<std::string>& failed) {
  if (lnc == 0) lnc = BestLnc(*system);
  if (ranks == 0) ranks = std::max(RanksOf(*system, lnc), 1);
  return Topology::Make(system, ranks, lnc, failed);
}

int ShowSystem(const SystemArgs& args) {
  const absl::StatusOr<System> system = SystemOf(args.name);
  if (!system.ok()) return Fail("info", args.json, system.status());
  const auto topology = ReachableTopology(*system, args);
  if (!topology.ok()) return Fail("info", args.json, topology.status());
  if (args.json) {
    Json json = Envelope("info");
    json["system"] = SystemJson(**topology);
    if (args.only == "description") {
      json["system"]["description"] = (*system)->text;
    }
    PrintJson(json);
    return kSuccess;
  }
  if (args.only == "description") {
    Print((*system)->text);
    return kSuccess;
  }
  const std::string constants =
      Cat("Constants of ", (*system)->name, "\n\n",
          ConstantsTable((*system)->constants).Text());
  Print(args.only == "constants"
            ? constants
            : Cat(Headline(**system), "\n", Drawing(**topology),
                  FailedText(**topology), "\n", constants));
  return kSuccess;
}

int ShowSystems(bool json) {
  Json list = Json::array();
  Table table({"system", "target", "joined as", "chips", "cores",
               "ranks, lnc 1", "ranks, lnc 2"});
  for (const std::string& name : SystemNames()) {
    const SystemDescription& s = **FindSystem(name);
    list.push_back(SummaryJson(s));
    const int with_two = RanksOf(s, 2);
    table.Add({name, std::string(Name(s.target)), std::string(Name(s.join)),
               Cat(s.chips()), Cat(s.cores()), Cat(RanksOf(s, 1)),
               with_two == 0 ? "-" : Cat(with_two)});
  }
  if (json) {
    Json report = Envelope("info");
    report["systems"] = std::move(list);
    PrintJson(report);
    return kSuccess;
  }
  Print(Cat(table.Text(),
            "\nNAME*N: N of them joined by the network (trn2.48xlarge*4).\n"));
  return kSuccess;
}

}  // namespace trnemu::cli
