#include "collectives/choose_stage.h"

#include <algorithm>
#include <bit>

namespace trnemu::plans {
namespace {

// Groups between nodes that count as small and as at most medium; the
// documentation says only the words (assumed).
constexpr int kSmall = 4, kMedium = 16;

// Whether a single step pays: it sends (N - 1) B where the mesh sends
// 2 (N - 1) / N B, and saves one hop.
bool SingleStepPays(const Team& team, double bytes, const Ranges& ranges) {
  const double n = team.size();
  const double more = (n - 1) * (n - 2) / n * bytes;
  return more <= (team.network ? ranges.network_hop_bytes : ranges.hop_bytes);
}

// Mesh: small groups and sizes. RDH: medium to large groups, small to medium
// sizes; of the largest groups at any size. Ring: small to medium groups, large
// sizes.
Algorithm ChooseBetweenNodes(const Team& team, double bytes,
                             const Ranges& ranges) {
  const bool rdh = team.cube;
  if (bytes <= ranges.mesh_up_to && (team.size() <= kSmall || !rdh)) {
    return Algorithm::kMesh;
  }
  if (rdh && (bytes <= ranges.rdh_up_to || team.size() > kMedium)) {
    return Algorithm::kRdh;
  }
  return Algorithm::kRing;
}

Algorithm ChooseInsideNode(const Team& team, Goal goal, double bytes,
                           const Ranges& ranges) {
  if (bytes <= ranges.mesh_up_to) return Algorithm::kMesh;
  if (bytes <= ranges.rdh_up_to) {
    // On one chip recursive doubling has no axes: what is left of it is the
    // mesh's one step.
    if (team.num_chips() == 1) return Algorithm::kMesh;
    if (team.cube) return Algorithm::kRdh;
  }
  return WhyNot(Algorithm::kKangaRing, team, goal).empty()
             ? Algorithm::kKangaRing
             : Algorithm::kRing;
}

}  // namespace

std::string WhyNot(Algorithm algorithm, const Team& team, Goal goal) {
  switch (algorithm) {
    case Algorithm::kRing:
    case Algorithm::kMesh:
      return "";
    case Algorithm::kSingleStepMesh:
      if (goal != Goal::kReduce) return "it is an algorithm of all_reduce only";
      return "";
    case Algorithm::kRdh:
      if (!team.even_chips())
        return "its chips have different numbers of ranks";
      if (!team.cube) return "its chips do not form a hypercube";
      return "";
    case Algorithm::kKangaRing:
      if (team.network) return "it has one rank on each node";
      if (!team.complete) return "not all ranks of each chip are in it";
      if (team.chips[0].size() % 2 != 0) {
        return "ranks work in pairs, and a chip has " +
               std::to_string(team.chips[0].size());
      }
      return "";
    default:
      return "it is no algorithm of this operation";
  }
}

Algorithm ChooseStage(const Team& team, Goal goal, double bytes,
                      const Ranges& ranges) {
  if (team.size() == 1) return Algorithm::kMesh;
  const Algorithm a = team.network
                          ? ChooseBetweenNodes(team, bytes, ranges)
                          : ChooseInsideNode(team, goal, bytes, ranges);
  if (a == Algorithm::kMesh && goal == Goal::kReduce &&
      SingleStepPays(team, bytes, ranges)) {
    return Algorithm::kSingleStepMesh;
  }
  return a;
}

bool Symmetric(const GroupShape& shape) {
  const auto nodes = MembersByNode(shape);
  return std::all_of(nodes.begin(), nodes.end(), [&](const auto& n) {
    return n.size() == nodes[0].size();
  });
}

}  // namespace trnemu::plans
