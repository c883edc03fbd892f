#include "collectives/topology.h"

#include <charconv>
#include <cstddef>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "collectives/fabric.h"
#include "collectives/group_shape.h"
#include "isa/builder.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

using System = std::shared_ptr<const SystemDescription>;

absl::Status Refused(const char* id, std::string message,
                     std::string remedy = "") {
  Diagnostic d;
  d.category = Category::kInput;
  d.id = id;
  d.message = std::move(message);
  d.remedy = std::move(remedy);
  return ToStatus(std::move(d));
}

absl::Status CheckRanks(const SystemDescription& system, int ranks, int lnc) {
  if (lnc != 1 && lnc != 2) {
    return Refused("option.lnc",
                   absl::StrCat("lnc is ", lnc, "; it must be 1 or 2"));
  }
  if (lnc == 2 && !HardwareFor(system.target).features.lnc2) {
    return Refused("option.lnc",
                   absl::StrCat("lnc is 2, but the cores of ", system.name,
                                ", ", std::string(Name(system.target)),
                                ", form no logical cores of two"));
  }
  const int most = system.cores() / lnc;
  if (ranks < 1 || ranks > most) {
    return Refused(
        "option.ranks",
        absl::StrCat(ranks, " ranks of ", system.name, ", which has 1 to ",
                     most, " with lnc ", lnc, " (chips: ", system.chips(),
                     ", cores of a chip: ", system.cores_per_chip, ")"),
        system.has_network()
            ? absl::StrCat("use fewer ranks, or ", system.name,
                           "*N, N of them joined by the network")
            : "");
  }
  return absl::OkStatus();
}

// "3-7": both.
std::optional<std::pair<int, int>> ChipsOf(const std::string& name) {
  int a = 0, b = 0;
  const char* const end = name.data() + name.size();
  const auto first = std::from_chars(name.data(), end, a);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') {
    return std::nullopt;
  }
  const auto second = std::from_chars(first.ptr + 1, end, b);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  return std::pair(a, b);
}

absl::Status NoSuchLink(const Fabric& fabric, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Link& link : fabric.links()) names.push_back(link.name);
  const std::string nearest(NearestName(name, names));
  return Refused(
      "option.fail_link",
      absl::StrCat("there is no link \"", name, "\"",
                   nearest.empty() ? "" : "; the nearest is ", nearest),
      "write 3-7 for both directions between two chips, or a link's name, as "
      "trnemu info --system NAME --json lists them");
}

absl::Status FailBoth(Fabric& fabric, const std::string& name, int a, int b) {
  const bool here =
      a >= 0 && b >= 0 && a < fabric.chips() && b < fabric.chips();
  if (here && fabric.Direct(a, b) >= 0) {
    fabric.Fail(fabric.Direct(a, b));
    fabric.Fail(fabric.Direct(b, a));
    return absl::OkStatus();
  }
  if (!here) {
    return Refused("option.fail_link",
                   absl::StrCat("there is no link \"", name,
                                "\": the chips are 0 to ", fabric.chips() - 1));
  }
  std::string neighbours;
  for (const int32_t chip : fabric.NeighboursOf(a)) {
    absl::StrAppend(&neighbours, neighbours.empty() ? "" : ", ", a, "-", chip);
  }
  return Refused(
      "option.fail_link",
      absl::StrCat("there is no link \"", name, "\": chip ", a, " has ",
                   neighbours.empty()
                       ? "no link to another chip, but to switches: "
                         "\"chip 0 > switch\""
                       : neighbours));
}

absl::Status Fail(Fabric& fabric, std::span<const std::string> failed) {
  std::unordered_map<std::string_view, int32_t> by_name;
  for (size_t i = 0; !failed.empty() && i < fabric.links().size(); ++i) {
    by_name.emplace(fabric.links()[i].name, static_cast<int32_t>(i));
  }
  for (const std::string& name : failed) {
    if (const auto chips = ChipsOf(name)) {
      absl::Status status = FailBoth(fabric, name, chips->first, chips->second);
      if (!status.ok()) return status;
      continue;
    }
    const auto link = by_name.find(name);
    if (link == by_name.end()) return NoSuchLink(fabric, name);
    fabric.Fail(link->second);
  }
  return absl::OkStatus();
}

absl::Status CheckGroup(std::span<const int32_t> group, int ranks) {
  std::vector<char> seen(static_cast<size_t>(ranks));
  if (group.empty()) {
    return Refused("collective.group", "a replica group has no ranks");
  }
  for (const int32_t rank : group) {
    if (rank < 0 || rank >= ranks) {
      return Refused("collective.group",
                     absl::StrCat("a replica group has rank ", rank,
                                  "; there are ranks 0 to ", ranks - 1));
    }
    char& here = seen[static_cast<size_t>(rank)];
    if (here != 0) {
      return Refused("collective.group",
                     absl::StrCat("a replica group has rank ", rank, " twice"));
    }
    here = 1;
  }
  return absl::OkStatus();
}

class TopologyOf : public Topology {
 public:
  TopologyOf(System system, int ranks, int lnc, Fabric fabric)
      : system_(std::move(system)),
        ranks_(ranks),
        lnc_(lnc),
        fabric_(std::move(fabric)) {}

  const SystemDescription& system() const override { return *system_; }
  int ranks() const override { return ranks_; }
  int lnc() const override { return lnc_; }
  int ranks_per_chip() const override { return system_->cores_per_chip / lnc_; }
  int chips() const override {
    return (ranks_ + ranks_per_chip() - 1) / ranks_per_chip();
  }
  int nodes() const override { return NodeOfChip(chips() - 1) + 1; }
  int NodeOfChip(int chip) const override {
    return chip / system_->chips_per_node;
  }
  std::span<const Link> links() const override { return fabric_.links(); }
  bool failed(int32_t link) const override { return fabric_.failed(link); }

  absl::StatusOr<std::span<const int32_t>> Route(int from_chip,
                                                 int to_chip) const override {
    const uint64_t key =
        static_cast<uint64_t>(from_chip) << 32 | static_cast<uint32_t>(to_chip);
    {
      const std::shared_lock lock(mutex_);
      const auto known = routes_.find(key);
      if (known != routes_.end()) {
        return std::span<const int32_t>(known->second);
      }
    }
    std::vector<int32_t> links;
    if (!fabric_.Route(from_chip, to_chip, links)) {
      return Unreachable(from_chip, to_chip);
    }
    const std::unique_lock lock(mutex_);
    // Entries stay where they are; one that was faster is the same.
    return std::span<const int32_t>(
        routes_.try_emplace(key, std::move(links)).first->second);
  }

  absl::StatusOr<GroupShape> ShapeOf(
      std::span<const int32_t> group) const override {
    const absl::Status status = CheckGroup(group, ranks_);
    if (!status.ok()) return status;
    return ShapeOn(fabric_, ranks_per_chip(), system_->chips_per_node, group);
  }

 private:
  absl::Status Unreachable(int from, int to) const {
    std::string failed;
    for (const int32_t link : fabric_.failed_links()) {
      absl::StrAppend(&failed, failed.empty() ? "" : ", ",
                      fabric_.links()[static_cast<size_t>(link)].name);
    }
    Diagnostic d;
    d.category = Category::kInput;
    d.id = "link.unreachable";
    d.message = absl::StrCat("no way is left from chip ", from, " to chip ", to,
                             " of ", system_->name);
    d.details = {{"failed links", failed}};
    return ToStatus(std::move(d));
  }

  System system_;
  int ranks_, lnc_;
  Fabric fabric_;
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<uint64_t, std::vector<int32_t>> routes_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Topology>> Topology::Make(
    System system, int ranks, int lnc, std::span<const std::string> failed) {
  absl::Status status = CheckRanks(*system, ranks, lnc);
  if (!status.ok()) return status;
  const int domain_ranks = system->nodes_in_ring * system->chips_per_node *
                           system->cores_per_chip / lnc;
  Fabric fabric(*system, (ranks + domain_ranks - 1) / domain_ranks);
  status = Fail(fabric, failed);
  if (!status.ok()) return status;
  return std::make_shared<TopologyOf>(std::move(system), ranks, lnc,
                                      std::move(fabric));
}

}  // namespace trnemu
