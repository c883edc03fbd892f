// The members that one stage of a collective works with.
#ifndef TRNEMU_COLLECTIVES_TEAM_H_
#define TRNEMU_COLLECTIVES_TEAM_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "collectives/problem.h"

namespace trnemu::plans {

// A group, its part in a node, or the members at one place of all nodes.
// Members are counted by position in the team.
struct Team {
  std::vector<int32_t> member;               // by position: of the group
  std::vector<int32_t> chip_of;              // by position
  std::vector<std::vector<int32_t>> chips;   // by chip: positions, local order
  std::vector<std::vector<int32_t>> cycles;  // of chips; share no directed link
  // By axis and chip: the chip it exchanges with. Of log2(chips) axes; usable
  // if `cube`.
  std::vector<std::vector<int32_t>> axes;
  bool cube = false;  // axes span the chips, which have equally many members
  bool complete = false;  // all ranks of each chip are in it
  bool network = false;   // every member on a node of its own

  int size() const { return static_cast<int>(member.size()); }
  int num_chips() const { return static_cast<int>(chips.size()); }
  bool even_chips() const;  // equally many members on each
};

// `internal` (internal.collective_shape) if a shape's parts do not fit
// together.
absl::Status CheckShape(const GroupShape& shape);

// By entry of shape.nodes: its members in group order.
std::vector<std::vector<int32_t>> MembersByNode(const GroupShape& shape);
// Those of one entry of shape.nodes.
Team NodeTeam(const GroupShape& shape, int node);
// Members of different nodes, one of each.
Team NetworkTeam(std::vector<int32_t> members);
// The whole group; nodes one after the other, each cycle a chain through all
// of them that leaves the nodes from chips of its own.
Team WholeTeam(const GroupShape& shape);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_TEAM_H_
