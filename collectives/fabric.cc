#include "collectives/fabric.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace trnemu {
namespace {

using JoinOfChips = SystemDescription::Join;

}  // namespace

Fabric::Fabric(const SystemDescription& system, int domains)
    : join_(system.join),
      domain_chips_(system.nodes_in_ring * system.chips_per_node) {
  chips_ = domains * domain_chips_;
  for (int chip = 0; chip < chips_; ++chip) AddVertex(chip / domain_chips_);
  if (join_ == JoinOfChips::kTorus) dims_ = system.dims;
  if (join_ == JoinOfChips::kRing || join_ == JoinOfChips::kLine) {
    dims_ = {system.chips_per_node};
  }
  wraps_.assign(dims_.size(), join_ != JoinOfChips::kLine);
  if (system.nodes_in_ring > 1) {
    dims_.push_back(system.nodes_in_ring);
    wraps_.push_back(true);
  }
  AddGrid(system);
  if (join_ == JoinOfChips::kSwitch) AddSwitches(system);
  if (domains > 1) AddNetwork(system);
  for (auto& edges : edges_) {
    std::sort(edges.begin(), edges.end(),
              [](const Edge& a, const Edge& b) { return a.to < b.to; });
  }
  failed_.resize(links_.size());
}

int Fabric::AddVertex(int domain) {
  domain_.push_back(domain);
  edges_.emplace_back();
  return static_cast<int>(domain_.size()) - 1;
}

std::string Fabric::NameOf(int vertex) const {
  return vertex < chips_ ? absl::StrCat("chip ", vertex)
                         : names_[static_cast<size_t>(vertex - chips_)];
}

void Fabric::Join(int a, int b, Link::Kind there, Link::Kind back,
                  double bandwidth, double latency_there, double latency_back) {
  const auto first = static_cast<int32_t>(links_.size());
  const int chip_a = a < chips_ ? a : -1;
  const int chip_b = b < chips_ ? b : -1;
  links_.push_back({absl::StrCat(NameOf(a), " > ", NameOf(b)), there, chip_a,
                    chip_b, bandwidth, latency_there});
  links_.push_back({absl::StrCat(NameOf(b), " > ", NameOf(a)), back, chip_b,
                    chip_a, bandwidth, latency_back});
  edges_[static_cast<size_t>(a)].push_back({b, first, first + 1});
  edges_[static_cast<size_t>(b)].push_back({a, first + 1, first});
}

void Fabric::AddGrid(const SystemDescription& system) {
  const size_t of_a_node = dims_.size() - (system.nodes_in_ring > 1);
  for (int chip = 0; chip < chips_; ++chip) {
    const std::vector<int> at = CoordinatesOf(chip);
    int stride = 1;
    for (size_t d = 0; d < dims_.size(); stride *= dims_[d], ++d) {
      const int size = dims_[d];
      const bool last = at[d] + 1 == size;
      if (last && (!wraps_[d] || size <= 2)) continue;
      const int next = chip + (last ? 1 - size : 1) * stride;
      Join(chip, next, Link::Kind::kChip, Link::Kind::kChip,
           d < of_a_node ? system.link_bandwidth : system.node_link_bandwidth,
           system.link_latency, system.link_latency);
    }
  }
}

void Fabric::AddSwitches(const SystemDescription& system) {
  using enum Link::Kind;
  server_chips_ = system.chips_per_switch;
  rack_chips_ = system.chips_per_node / system.racks;
  const auto add = [&](const char* name, int chips_of_one, double bandwidth) {
    const int first = static_cast<int>(domain_.size());
    for (int chip = 0; chip < chips_; ++chip) {
      if (chip % chips_of_one == 0) {
        AddVertex(chip / domain_chips_);
        names_.push_back(name);
      }
      Join(chip, first + chip / chips_of_one, kUp, kDown, bandwidth,
           system.switch_latency, system.switch_latency);
    }
    return first;
  };
  first_server_switch_ = add("switch", server_chips_, system.switch_bandwidth);
  if (rack_chips_ > server_chips_) {
    first_rack_switch_ =
        add("rack switch", rack_chips_, system.rack_switch_bandwidth);
  }
  if (system.racks == 1) return;
  for (int chip = 0; chip < chips_; ++chip) {
    if (chip % domain_chips_ >= rack_chips_) continue;
    Join(chip, chip + rack_chips_, kChip, kChip, system.rack_link_bandwidth,
         system.link_latency, system.link_latency);
  }
}

void Fabric::AddNetwork(const SystemDescription& system) {
  network_ = AddVertex(-1);
  names_.push_back("network");
  for (int chip = 0; chip < chips_; ++chip) {
    Join(chip, network_, Link::Kind::kNetwork, Link::Kind::kNetwork,
         system.network_bandwidth, system.network_latency, 0);
  }
}

void Fabric::Fail(int32_t link) {
  char& failed = failed_[static_cast<size_t>(link)];
  if (failed == 0) failed_links_.push_back(link);
  failed = 1;
}

const Fabric::Edge* Fabric::EdgeBetween(int from, int to) const {
  const auto& edges = edges_[static_cast<size_t>(from)];
  const auto at =
      std::lower_bound(edges.begin(), edges.end(), to,
                       [](const Edge& e, int vertex) { return e.to < vertex; });
  return at != edges.end() && at->to == to ? &*at : nullptr;
}

int32_t Fabric::Direct(int from_chip, int to_chip) const {
  const Edge* edge = EdgeBetween(from_chip, to_chip);
  return edge == nullptr ? -1 : edge->link;
}

std::vector<int32_t> Fabric::NeighboursOf(int chip) const {
  std::vector<int32_t> chips;
  for (const Edge& edge : edges_[static_cast<size_t>(chip)]) {
    if (edge.to < chips_) chips.push_back(edge.to);
  }
  return chips;
}

std::vector<int> Fabric::CoordinatesOf(int chip) const {
  std::vector<int> at;
  int rest = chip % domain_chips_;
  for (const int size : dims_) {
    at.push_back(rest % size);
    rest /= size;
  }
  return at;
}

void Fabric::GridVertices(int from, int to, std::vector<int>& out) const {
  const std::vector<int> a = CoordinatesOf(from), b = CoordinatesOf(to);
  int chip = from, stride = 1;
  for (size_t d = 0; d < dims_.size(); stride *= dims_[d], ++d) {
    const int size = dims_[d];
    int step = b[d] > a[d] ? 1 : -1;
    if (wraps_[d]) {
      step = 2 * ((b[d] - a[d] + size) % size) <= size ? 1 : -1;
    }
    for (int at = a[d]; at != b[d];) {
      const int next = (at + step + size) % size;
      chip += (next - at) * stride;
      at = next;
      out.push_back(chip);
    }
  }
}

void Fabric::SwitchVertices(int from, int to, std::vector<int>& out) const {
  const int to_rack = to / rack_chips_, from_rack = from / rack_chips_;
  // The chip at the place of `to` in the rack of `from`.
  const int beside = to + (from_rack - to_rack) * rack_chips_;
  if (beside != from) {
    const bool same_server = from / server_chips_ == beside / server_chips_;
    out.push_back(same_server ? first_server_switch_ + from / server_chips_
                              : first_rack_switch_ + from_rack);
    out.push_back(beside);
  }
  if (beside != to) out.push_back(to);
}

std::vector<int> Fabric::Vertices(int from, int to) const {
  std::vector<int> out;
  if (DomainOf(from) != DomainOf(to)) {
    out = {network_, to};
  } else if (join_ == JoinOfChips::kSwitch) {
    SwitchVertices(from, to, out);
  } else {
    GridVertices(from, to, out);
  }
  return out;
}

bool Fabric::Route(int from, int to, std::vector<int32_t>& links) const {
  links.clear();
  if (from == to) return true;
  int at = from;
  bool up = true;
  for (const int vertex : Vertices(from, to)) {
    links.push_back(EdgeBetween(at, vertex)->link);
    up = up && !failed(links.back());
    at = vertex;
  }
  return up || Detour(from, to, links);
}

bool Fabric::Detour(int from, int to, std::vector<int32_t>& links) const {
  const int here = DomainOf(from), there = DomainOf(to);
  // The network lies between domains: no way inside one goes through it.
  const auto allowed = [&](int vertex) {
    const int domain = DomainOf(vertex);
    return domain == here || domain == there || (domain < 0 && here != there);
  };
  std::vector<int> distance(domain_.size(), -1);
  std::vector<int> reached = {to};
  distance[static_cast<size_t>(to)] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Edge& edge : edges_[static_cast<size_t>(reached[i])]) {
      int& d = distance[static_cast<size_t>(edge.to)];
      if (d >= 0 || failed(edge.back) || !allowed(edge.to)) continue;
      d = distance[static_cast<size_t>(reached[i])] + 1;
      reached.push_back(edge.to);
    }
  }
  links.clear();
  int left = distance[static_cast<size_t>(from)];
  if (left < 0) return false;
  for (int at = from; at != to;) {
    --left;
    for (const Edge& edge : edges_[static_cast<size_t>(at)]) {
      if (failed(edge.link) || distance[static_cast<size_t>(edge.to)] != left) {
        continue;
      }
      links.push_back(edge.link);
      at = edge.to;
      break;
    }
  }
  return true;
}

}  // namespace trnemu
