#include "collectives/group_shape.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <numeric>

#include "collectives/cycles.h"

namespace trnemu {
namespace {

using Cycle = std::vector<int32_t>;

// The graph of direct links between `chips`: those that are up in both
// directions, or in one at least.
std::vector<std::vector<int32_t>> GraphOf(const Fabric& fabric,
                                          std::span<const int32_t> chips,
                                          bool both) {
  std::vector<std::vector<int32_t>> graph(chips.size());
  for (size_t i = 0; i < chips.size(); ++i) {
    for (const int32_t chip : fabric.NeighboursOf(chips[i])) {
      const auto at = std::lower_bound(chips.begin(), chips.end(), chip);
      if (at == chips.end() || *at != chip) continue;
      const bool there = !fabric.failed(fabric.Direct(chips[i], chip));
      const bool back = !fabric.failed(fabric.Direct(chip, chips[i]));
      if (both ? there && back : there || back) {
        graph[i].push_back(static_cast<int32_t>(at - chips.begin()));
      }
    }
  }
  return graph;
}

bool IsUp(const Fabric& fabric, std::span<const int32_t> chips,
          const Cycle& cycle) {
  for (size_t i = 0; i < cycle.size(); ++i) {
    const auto from = static_cast<size_t>(cycle[i]);
    const auto to = static_cast<size_t>(cycle[(i + 1) % cycle.size()]);
    const int32_t link = fabric.Direct(chips[from], chips[to]);
    if (link < 0 || fabric.failed(link)) return false;
  }
  return true;
}

// From the same chip in the other direction.
Cycle Reversed(Cycle cycle) {
  std::reverse(cycle.begin() + 1, cycle.end());
  return cycle;
}

// The directions that are up of cycles over a graph.
std::vector<Cycle> Directed(const Fabric& fabric,
                            std::span<const int32_t> chips, bool both) {
  std::vector<Cycle> directed;
  for (const Cycle& cycle : EdgeDisjointCycles(GraphOf(fabric, chips, both))) {
    for (const Cycle& way : {cycle, Reversed(cycle)}) {
      if (IsUp(fabric, chips, way)) directed.push_back(way);
    }
  }
  return directed;
}

std::vector<Cycle> CyclesOver(const Fabric& fabric,
                              std::span<const int32_t> chips) {
  Cycle in_order(chips.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  if (chips.size() < 3) return {in_order};
  std::vector<Cycle> cycles = Directed(fabric, chips, true);
  if (fabric.any_failed()) {
    // A link that failed in one direction leaves its cycle the other one.
    std::vector<Cycle> more = Directed(fabric, chips, false);
    if (more.size() > cycles.size()) cycles = std::move(more);
  }
  // No cycle of direct links: over routes, which may share some.
  if (cycles.empty()) cycles = {in_order, Reversed(in_order)};
  return cycles;
}

// Positions along a dimension whose neighbours differ in one bit: round a ring
// of four, every exchange is with a neighbour.
int BitsOf(int position, bool ring_of_four) {
  return ring_of_four ? position ^ (position >> 1) : position;
}

// By dimension, the sorted places that `chips` have; empty if they are not all
// combinations of those, or not powers of two.
std::vector<std::vector<int>> BoxOf(const Fabric& fabric,
                                    std::span<const int32_t> chips) {
  std::vector<std::vector<int>> places(fabric.dims().size());
  for (const int32_t chip : chips) {
    const std::vector<int> at = fabric.CoordinatesOf(chip);
    for (size_t d = 0; d < at.size(); ++d) {
      auto& line = places[d];
      const auto place = std::lower_bound(line.begin(), line.end(), at[d]);
      if (place == line.end() || *place != at[d]) line.insert(place, at[d]);
    }
  }
  size_t product = 1;
  for (const auto& line : places) {
    if (!std::has_single_bit(line.size())) return {};
    product *= line.size();
  }
  return product == chips.size() ? places : std::vector<std::vector<int>>{};
}

// Of each chip, its corner of a hypercube as a number; a corner is of one chip.
std::vector<uint32_t> CornersOf(const Fabric& fabric,
                                std::span<const int32_t> chips) {
  std::vector<uint32_t> corners(chips.size());
  std::iota(corners.begin(), corners.end(), 0);
  const auto box = BoxOf(fabric, chips);
  if (box.empty()) return corners;
  for (size_t i = 0; i < chips.size(); ++i) {
    const std::vector<int> at = fabric.CoordinatesOf(chips[i]);
    uint32_t corner = 0;
    int shift = 0;
    for (size_t d = 0; d < box.size(); ++d) {
      const auto& line = box[d];
      const auto place = std::lower_bound(line.begin(), line.end(), at[d]);
      const bool ring =
          line.size() == 4 && fabric.dims()[d] == 4 && fabric.wraps(d);
      corner |= static_cast<uint32_t>(
                    BitsOf(static_cast<int>(place - line.begin()), ring))
                << shift;
      shift += std::countr_zero(line.size());
    }
    corners[i] = corner;
  }
  return corners;
}

std::vector<std::vector<int32_t>> HypercubeOf(const Fabric& fabric,
                                              std::span<const int32_t> chips) {
  if (!std::has_single_bit(chips.size())) return {};
  const std::vector<uint32_t> corners = CornersOf(fabric, chips);
  std::vector<int32_t> chip_at(chips.size());
  for (size_t i = 0; i < chips.size(); ++i) {
    chip_at[corners[i]] = static_cast<int32_t>(i);
  }
  std::vector<std::vector<int32_t>> axes;
  for (uint32_t bit = 1; bit < chips.size(); bit *= 2) {
    std::vector<int32_t> partners;
    for (const uint32_t corner : corners) {
      partners.push_back(chip_at[corner ^ bit]);
    }
    axes.push_back(std::move(partners));
  }
  return axes;
}

}  // namespace

GroupShape ShapeOn(const Fabric& fabric, int ranks_per_chip, int chips_per_node,
                   std::span<const int32_t> group) {
  GroupShape shape;
  shape.members = static_cast<int32_t>(group.size());
  shape.ranks_per_chip = ranks_per_chip;
  std::map<int32_t, int32_t> on_chip;  // members so far
  for (const int32_t rank : group) {
    const int32_t chip = rank / ranks_per_chip;
    shape.chip.push_back(chip);
    shape.local.push_back(on_chip[chip]++);
  }
  std::map<int32_t, int32_t> node_index;  // by number over the system
  for (const auto& [chip, members] : on_chip) {
    const auto index = static_cast<int32_t>(node_index.size());
    if (node_index.try_emplace(chip / chips_per_node, index).second) {
      shape.nodes.emplace_back();
    }
    shape.nodes.back().chips.push_back(chip);
  }
  for (const int32_t chip : shape.chip) {
    shape.node.push_back(node_index[chip / chips_per_node]);
  }
  for (GroupShape::NodeCycles& node : shape.nodes) {
    node.cycles = CyclesOver(fabric, node.chips);
    shape.hypercube.push_back(HypercubeOf(fabric, node.chips));
  }
  return shape;
}

}  // namespace trnemu
