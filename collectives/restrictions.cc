#include "collectives/restrictions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trnemu {
namespace {

constexpr std::string_view kNki = "nki/api/nki/collectives/__init__.py";

Diagnostic Refusal(std::string_view id, std::string message, std::string rule,
                   std::string remedy) {
  Diagnostic d;
  d.category = Category::kIllegal;
  d.id = id;
  d.message = std::move(message);
  d.reference = std::move(rule);
  d.remedy = std::move(remedy);
  return d;
}

std::string Line(int line) {
  return absl::StrCat(std::string(kNki), ":", line);
}

// Members of each chip.
std::map<int, int> ChipsOf(const Meeting& m, const Topology& topology) {
  std::map<int, int> chips;
  for (const uint32_t rank : m.members) {
    ++chips[topology.ChipOf(static_cast<int>(rank))];
  }
  return chips;
}

// "containing all devices inside a node" (kNki:308): of each that it is in.
bool HasWholeNodes(const Meeting& m, const Topology& topology) {
  std::map<int, int> chips_of_node;
  for (const auto& [chip, members] : ChipsOf(m, topology)) {
    ++chips_of_node[topology.NodeOfChip(chip)];
  }
  return std::all_of(chips_of_node.begin(), chips_of_node.end(),
                     [&](const auto& node) {
                       return node.second == topology.system().chips_per_node;
                     });
}

void CheckChannel(const Meeting& m, const Topology& topology,
                  std::vector<Diagnostic>& found) {
  const int64_t channel = m.first().channel;
  const bool whole = HasWholeNodes(m, topology);
  const int most = whole ? 4 : 2;
  if (channel < most) return;
  found.push_back(Refusal(
      "collective.channel",
      absl::StrCat("a group of ", m.members.size(), " ranks on ",
                   ChipsOf(m, topology).size(), " devices has channels 0 to ",
                   most - 1,
                   whole ? "" : ", since it has not all devices of a node",
                   ", but this is channel ", channel),
      Line(308),
      absl::StrCat("use channel_ids below ", most,
                   whole ? "" : ", or a group of all devices of a node")));
}

void CheckAllGatherV(const Meeting& m, const Topology& topology,
                     std::vector<Diagnostic>& found) {
  const size_t chips = ChipsOf(m, topology).size();
  if (topology.lnc() == 2 && chips == 1) return;
  found.push_back(Refusal(
      "all_gather_v.system",
      absl::StrCat("all_gather_v is supported with lnc 2 among the ranks of "
                   "one device, but on ",
                   topology.system().name, " lnc is ", topology.lnc(),
                   " and the group has ranks on ", chips,
                   chips == 1 ? " device" : " devices"),
      Line(136), "use all_gather, or a group of the 4 ranks of a device"));
}

// One after the other, and all ranks of each of several devices.
bool FitsSwitch(const Meeting& m, const Topology& topology) {
  for (size_t i = 1; i < m.members.size(); ++i) {
    if (m.members[i] != m.members[i - 1] + 1) return false;
  }
  const auto chips = ChipsOf(m, topology);
  return topology.lnc() == 2 && chips.size() > 1 &&
         std::all_of(chips.begin(), chips.end(), [&](const auto& chip) {
           return chip.second == topology.ranks_per_chip();
         });
}

// The rank at the same place of each of several nodes.
bool FitsNodes(const Meeting& m, const Topology& topology) {
  const int ranks =
      topology.ranks_per_chip() * topology.system().chips_per_node;
  std::set<uint32_t> nodes;
  for (const uint32_t rank : m.members) {
    nodes.insert(rank / static_cast<uint32_t>(ranks));
    if (rank % static_cast<uint32_t>(ranks) !=
        m.members[0] % static_cast<uint32_t>(ranks)) {
      return false;
    }
  }
  return nodes.size() > 1;
}

void CheckAllToAllV(const Meeting& m, const Topology& topology,
                    std::vector<Diagnostic>& found) {
  const std::string& system = topology.system().name;
  const bool has_switch =
      topology.system().join == SystemDescription::Join::kSwitch;
  if (has_switch && !FitsSwitch(m, topology)) {
    found.push_back(Refusal(
        "all_to_all_v.system",
        absl::StrCat("on ", system,
                     ", whose devices are joined by switches, all_to_all_v is "
                     "supported with lnc 2 among all ranks of several "
                     "devices, in order, but lnc is ",
                     topology.lnc(), " and the group has ", m.members.size(),
                     " ranks on ", ChipsOf(m, topology).size(), " devices of ",
                     topology.ranks_per_chip(), " each"),
        Line(197),
        "let the group have all ranks of its devices; give those that take no "
        "part a send count of 0"));
  }
  if (!has_switch && !FitsNodes(m, topology)) {
    found.push_back(Refusal(
        "all_to_all_v.system",
        absl::StrCat("on ", system,
                     " all_to_all_v is supported between the ranks at the "
                     "same place of several nodes, but the group's ",
                     m.members.size(), " ranks, from rank ", m.members[0],
                     " on, are not"),
        Line(207), "use all_to_all, padded to equal counts"));
  }
  if (!has_switch && m.first().has_rdispls) {
    found.push_back(Refusal(
        "all_to_all_v.rdispls",
        absl::StrCat("has_rdispls is supported where devices are joined by "
                     "switches, which those of ",
                     system, " are not"),
        Line(254),
        "leave has_rdispls out: blocks then come to equal slots of dst"));
  }
}

// Pairs that go round, each along a link or inside a chip.
void CheckPermute(const Meeting& m, const Topology& topology,
                  std::vector<Diagnostic>& found) {
  std::set<uint32_t> from, to;
  std::string why;
  for (const auto& pair : m.first().pairs) {
    from.insert(pair[0]);
    to.insert(pair[1]);
    const auto route =
        topology.Route(topology.ChipOf(static_cast<int>(pair[0])),
                       topology.ChipOf(static_cast<int>(pair[1])));
    const size_t most =
        topology.system().join == SystemDescription::Join::kSwitch ? 2 : 1;
    if (route.ok() && route->size() > most && why.empty()) {
      why = absl::StrCat("ranks ", pair[0], " and ", pair[1], " are ",
                         route->size(), " links apart");
    }
  }
  if (from != to) {
    std::vector<uint32_t> ends;
    std::set_symmetric_difference(from.begin(), from.end(), to.begin(),
                                  to.end(), std::back_inserter(ends));
    why = absl::StrCat("rank ", ends[0],
                       from.contains(ends[0]) ? " sends and does not receive"
                                              : " receives and does not send");
  }
  if (why.empty()) return;
  Diagnostic d = Refusal(
      "collective_permute.ring",
      absl::StrCat("the runtime's documentation supports pairs that form rings "
                   "of directly connected ranks, NKI's any pairs: here ",
                   why),
      "neuron-runtime/about/collectives.rst:79",
      "let the pairs go round among ranks of one device or of neighbours");
  d.category = Category::kUnspecified;
  d.severity = Severity::kWarning;
  found.push_back(std::move(d));
}

}  // namespace

std::vector<Diagnostic> RestrictionsOn(const Meeting& m,
                                       const Topology& topology) {
  std::vector<Diagnostic> found;
  switch (m.first().kind) {
    case CollectiveKind::kPermuteImplicit:
    case CollectiveKind::kPermuteImplicitReduce:
      CheckChannel(m, topology, found);
      break;
    case CollectiveKind::kAllGatherV:
      CheckAllGatherV(m, topology, found);
      break;
    case CollectiveKind::kAllToAllV:
      CheckAllToAllV(m, topology, found);
      break;
    case CollectiveKind::kPermute:
      CheckPermute(m, topology, found);
      break;
    default:
      break;
  }
  return found;
}

}  // namespace trnemu
