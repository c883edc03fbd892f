#include "collectives/team.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "isa/diagnostic.h"

namespace trnemu::plans {
namespace {

size_t Size(int32_t n) { return static_cast<size_t>(n); }

absl::Status Wrong(std::string_view what) {
  return MakeFault(Category::kInternal, "internal.collective_shape",
                   "a group's shape is inconsistent: " + std::string(what));
}

// By chip of the system: the entry of shape.nodes and the index there.
struct ChipPlaces {
  explicit ChipPlaces(const GroupShape& shape) {
    for (size_t n = 0; n < shape.nodes.size(); ++n) {
      const auto& chips = shape.nodes[n].chips;
      for (size_t i = 0; i < chips.size(); ++i) {
        if (chips[i] < 0) continue;
        if (Size(chips[i]) >= node.size()) {
          node.resize(Size(chips[i]) + 1, -1);
          index.resize(Size(chips[i]) + 1, -1);
        }
        node[Size(chips[i])] = static_cast<int32_t>(n);
        index[Size(chips[i])] = static_cast<int32_t>(i);
      }
    }
  }
  bool Has(int32_t chip) const {
    return chip >= 0 && Size(chip) < node.size() && node[Size(chip)] >= 0;
  }
  std::vector<int32_t> node, index;
};

bool IsPermutation(std::vector<int32_t> v, size_t n) {
  std::sort(v.begin(), v.end());
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i] != static_cast<int32_t>(i)) return false;
  }
  return v.size() == n;
}

// Whether exchanging along one axis after the other reaches every chip once.
bool Spans(const std::vector<std::vector<int32_t>>& axes, size_t chips) {
  if (!std::has_single_bit(chips) ||
      axes.size() != Size(std::countr_zero(chips))) {
    return false;
  }
  std::vector<std::vector<int32_t>> reached(chips);
  for (size_t c = 0; c < chips; ++c) reached[c] = {static_cast<int32_t>(c)};
  for (const std::vector<int32_t>& axis : axes) {
    if (!IsPermutation(axis, chips)) return false;
    std::vector<std::vector<int32_t>> next = reached;
    for (size_t c = 0; c < chips; ++c) {
      const size_t partner = Size(axis[c]);
      if (partner == c || Size(axis[partner]) != c) return false;
      next[c].insert(next[c].end(), reached[partner].begin(),
                     reached[partner].end());
    }
    reached = std::move(next);
  }
  return std::all_of(reached.begin(), reached.end(),
                     [&](const auto& r) { return IsPermutation(r, chips); });
}

// Puts members on chips; those of `chip_of` are dense.
void FillChips(const GroupShape& shape, int num_chips, Team& team) {
  team.chips.resize(Size(num_chips));
  for (int32_t p = 0; p < team.size(); ++p) {
    team.chips[Size(team.chip_of[Size(p)])].push_back(p);
  }
  team.complete = true;
  for (std::vector<int32_t>& chip : team.chips) {
    std::stable_sort(chip.begin(), chip.end(), [&](int32_t a, int32_t b) {
      return shape.local[Size(team.member[Size(a)])] <
             shape.local[Size(team.member[Size(b)])];
    });
    team.complete &= static_cast<int32_t>(chip.size()) == shape.ranks_per_chip;
  }
}

// A node's cycles to the chains of all nodes, each cut so that it enters and
// leaves by chips (network interfaces) that no other one does, while there are.
void AddChains(const GroupShape::NodeCycles& node, int32_t first_chip,
               std::vector<std::vector<int32_t>>& chains) {
  const size_t chips = node.chips.size();
  std::vector<bool> enters(chips), leaves(chips);
  for (size_t c = 0; c < chains.size(); ++c) {
    const std::vector<int32_t>& cycle = node.cycles[c];
    const auto first = [&](size_t turn) { return Size(cycle[turn % chips]); };
    const auto last = [&](size_t turn) {
      return Size(cycle[(turn + chips - 1) % chips]);
    };
    size_t turn = 0;
    while (turn < chips && (enters[first(turn)] || leaves[last(turn)])) ++turn;
    enters[first(turn)] = leaves[last(turn)] = true;
    for (size_t i = 0; i < chips; ++i) {
      chains[c].push_back(first_chip + cycle[(turn + i) % chips]);
    }
  }
}

void FillCubeOfBits(Team& team) {
  const auto chips = static_cast<uint32_t>(team.num_chips());
  if (!std::has_single_bit(chips)) return;
  for (uint32_t bit = 1; bit < chips; bit *= 2) {
    std::vector<int32_t>& axis = team.axes.emplace_back(chips);
    for (uint32_t c = 0; c < chips; ++c) {
      axis[c] = static_cast<int32_t>(c ^ bit);
    }
  }
  team.cube = true;
}

}  // namespace

bool Team::even_chips() const {
  return std::all_of(chips.begin(), chips.end(), [&](const auto& c) {
    return c.size() == chips[0].size();
  });
}

absl::Status CheckShape(const GroupShape& shape) {
  const size_t n = Size(std::max(shape.members, 0));
  if (n == 0) return Wrong("no members");
  if (shape.chip.size() != n || shape.local.size() != n) {
    return Wrong("chip and local are not given by member");
  }
  const ChipPlaces places(shape);
  std::vector<bool> used(places.node.size());
  for (int32_t chip : shape.chip) {
    if (!places.Has(chip)) return Wrong("a member's chip is of no node");
    used[Size(chip)] = true;
  }
  for (const GroupShape::NodeCycles& node : shape.nodes) {
    if (node.chips.empty()) return Wrong("a node without chips");
    for (int32_t chip : node.chips) {
      if (!places.Has(chip) || !used[Size(chip)]) {
        return Wrong("a chip without members");
      }
    }
    if (node.cycles.empty()) return Wrong("a node without a cycle");
    for (const std::vector<int32_t>& cycle : node.cycles) {
      if (!IsPermutation(cycle, node.chips.size())) {
        return Wrong("a cycle that is not once through its node's chips");
      }
    }
  }
  return absl::OkStatus();
}

std::vector<std::vector<int32_t>> MembersByNode(const GroupShape& shape) {
  const ChipPlaces places(shape);
  std::vector<std::vector<int32_t>> out(shape.nodes.size());
  for (int32_t m = 0; m < shape.members; ++m) {
    out[Size(places.node[Size(shape.chip[Size(m)])])].push_back(m);
  }
  return out;
}

Team NodeTeam(const GroupShape& shape, int node) {
  const ChipPlaces places(shape);
  const GroupShape::NodeCycles& n = shape.nodes[Size(node)];
  Team team;
  team.member = MembersByNode(shape)[Size(node)];
  for (int32_t m : team.member) {
    team.chip_of.push_back(places.index[Size(shape.chip[Size(m)])]);
  }
  FillChips(shape, static_cast<int>(n.chips.size()), team);
  team.cycles = n.cycles;
  if (Size(node) < shape.hypercube.size()) {
    team.axes = shape.hypercube[Size(node)];
  }
  team.cube = team.even_chips() && Spans(team.axes, n.chips.size());
  return team;
}

Team NetworkTeam(std::vector<int32_t> members) {
  Team team;
  team.member = std::move(members);
  team.network = true;
  std::vector<int32_t> order(team.member.size());
  std::iota(order.begin(), order.end(), 0);
  team.chip_of = order;
  for (int32_t p : order) team.chips.push_back({p});
  team.cycles = {order};
  FillCubeOfBits(team);
  return team;
}

Team WholeTeam(const GroupShape& shape) {
  if (shape.nodes.size() == 1) return NodeTeam(shape, 0);
  if (shape.nodes.size() == Size(shape.members)) {
    std::vector<int32_t> members;
    for (const auto& of_node : MembersByNode(shape)) {
      members.push_back(of_node[0]);
    }
    // In group order, as its chunks are.
    std::sort(members.begin(), members.end());
    return NetworkTeam(std::move(members));
  }
  const ChipPlaces places(shape);
  Team team;
  std::vector<int32_t> first_chip;
  int32_t chips = 0;
  size_t cycles = shape.nodes[0].cycles.size();
  for (const GroupShape::NodeCycles& n : shape.nodes) {
    first_chip.push_back(chips);
    chips += static_cast<int32_t>(n.chips.size());
    cycles = std::min(cycles, n.cycles.size());
  }
  for (int32_t m = 0; m < shape.members; ++m) {
    const size_t chip = Size(shape.chip[Size(m)]);
    team.member.push_back(m);
    team.chip_of.push_back(first_chip[Size(places.node[chip])] +
                           places.index[chip]);
  }
  FillChips(shape, chips, team);
  team.cycles.resize(cycles);
  for (size_t n = 0; n < shape.nodes.size(); ++n) {
    AddChains(shape.nodes[n], first_chip[n], team.cycles);
  }
  return team;
}

}  // namespace trnemu::plans
