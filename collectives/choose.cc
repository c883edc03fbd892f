#include "collectives/choose.h"

#include <string>

#include "collectives/broadcast.h"
#include "collectives/choose_stage.h"
#include "collectives/direct.h"
#include "collectives/hierarchical.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

using plans::Goal;
using plans::Team;

// Whether it is a scatter, a gather, or both.
bool HasGoal(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kReduceScatter;
}

Goal GoalOf(CollectiveKind kind) {
  if (kind == CollectiveKind::kAllGather) return Goal::kGather;
  if (kind == CollectiveKind::kReduceScatter) return Goal::kScatter;
  return Goal::kReduce;
}

// The documented B.
double BufferBytes(const Problem& problem, int32_t members) {
  const auto bytes = static_cast<double>(problem.bytes());
  return problem.kind == CollectiveKind::kAllGather ? bytes * members : bytes;
}

bool HasOneMemberANode(const GroupShape& shape) {
  return shape.nodes.size() == static_cast<size_t>(shape.members);
}

std::string WhyNotHierarchical(const GroupShape& shape) {
  if (shape.nodes.size() == 1) return "its ranks are on one node";
  if (HasOneMemberANode(shape)) return "it has one rank on each node";
  if (!plans::Symmetric(shape)) {
    return "its nodes have different numbers of ranks";
  }
  return "";
}

// Empty if it can.
std::string WhyNot(const Problem& problem, const GroupShape& shape,
                   Algorithm algorithm) {
  constexpr std::string_view kOther = "it is no algorithm of this operation";
  if (problem.kind == CollectiveKind::kBroadcast) {
    const bool can =
        algorithm == Algorithm::kRing || algorithm == Algorithm::kMesh;
    return std::string(can ? "" : kOther);
  }
  if (!HasGoal(problem.kind)) {
    return std::string(algorithm == Algorithm::kDirect ? "" : kOther);
  }
  if (algorithm == Algorithm::kHierarchical) return WhyNotHierarchical(shape);
  if (shape.nodes.size() > 1 && !HasOneMemberANode(shape) &&
      (algorithm == Algorithm::kRdh || algorithm == Algorithm::kKangaRing)) {
    return "its ranks are on several nodes; hierarchical uses it inside them";
  }
  return plans::WhyNot(algorithm, plans::WholeTeam(shape),
                       GoalOf(problem.kind));
}

absl::Status Wrong(std::string_view what) {
  return MakeFault(Category::kInternal, "internal.collective_problem",
                   "a collective is inconsistent: " + std::string(what));
}

absl::Status CheckBlocks(const Problem& problem, size_t members) {
  if (problem.blocks.size() != members) return Wrong("blocks by sender");
  for (const auto& of_sender : problem.blocks) {
    if (of_sender.size() != members) return Wrong("blocks by receiver");
  }
  return absl::OkStatus();
}

absl::Status CheckPairs(const Problem& problem, int32_t members) {
  std::vector<bool> sends(static_cast<size_t>(members)), gets = sends;
  for (const auto& [from, to] : problem.pairs) {
    if (from < 0 || from >= members || to < 0 || to >= members) {
      return Wrong("a pair of no member");
    }
    if (sends[static_cast<size_t>(from)] || gets[static_cast<size_t>(to)]) {
      return Wrong("a member that sends or receives twice");
    }
    sends[static_cast<size_t>(from)] = gets[static_cast<size_t>(to)] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckProblem(const Problem& problem, int32_t members) {
  for (int64_t e : problem.src_elements) {
    if (e < 0) return Wrong("a negative size");
    if (problem.rows < 1 || e % problem.rows != 0) {
      return Wrong("rows do not divide a tensor");
    }
  }
  switch (problem.kind) {
    case CollectiveKind::kAllGatherV:
    case CollectiveKind::kAllToAllV:
      return CheckBlocks(problem, static_cast<size_t>(members));
    case CollectiveKind::kPermute:
      return CheckPairs(problem, members);
    case CollectiveKind::kSend:
    case CollectiveKind::kRecv:
      return members == 2 ? absl::OkStatus() : Wrong("send of not two members");
    case CollectiveKind::kBroadcast:
      return problem.root >= 0 && problem.root < members
                 ? absl::OkStatus()
                 : Wrong("a root of no member");
    default:
      return absl::OkStatus();
  }
}

void WriteFlat(const Problem& problem, const GroupShape& shape,
               Algorithm algorithm, PlanWriter& writer) {
  const Team team = plans::WholeTeam(shape);
  if (problem.kind == CollectiveKind::kBroadcast) {
    if (algorithm == Algorithm::kRing) {
      return plans::BroadcastRing(problem, team, writer);
    }
    return plans::BroadcastMesh(problem, team, writer);
  }
  // A team's order can be that of nodes; blocks are those of members.
  const plans::Chunks blocks = plans::BlocksOf(problem, shape.members);
  std::vector<std::vector<int32_t>> of_position;
  for (int32_t m : team.member) of_position.push_back({m});
  const plans::Chunks chunks = blocks.Joined(of_position).Numbered();
  plans::Stage stage{writer, team, chunks, GoalOf(problem.kind), {}, {}, {}};
  stage.in_place = problem.in_place;
  for (int32_t m : team.member) {
    const plans::End own = {m, Buffer::kSrc, plans::Count::kBlocks,
                            -blocks.Start(m)};
    const plans::End full = {m, Buffer::kDst, plans::Count::kFull, 0};
    stage.in.push_back(own);
    stage.out.push_back(full);
    if (stage.scatters()) {
      stage.in.back() = {m, Buffer::kSrc, plans::Count::kFull, 0};
    }
    if (!stage.gathers()) {
      stage.out.back() = own;
      stage.out.back().buffer = Buffer::kDst;
    }
  }
  plans::RunStage(algorithm, stage);
}

}  // namespace

Algorithm Choose(const Problem& problem, const GroupShape& shape,
                 const Ranges& ranges) {
  const double bytes = BufferBytes(problem, shape.members);
  if (problem.kind == CollectiveKind::kBroadcast) {
    return bytes <= ranges.mesh_up_to || shape.members <= 2 ? Algorithm::kMesh
                                                            : Algorithm::kRing;
  }
  if (!HasGoal(problem.kind)) return Algorithm::kDirect;
  if (shape.nodes.size() > 1 && !HasOneMemberANode(shape)) {
    const bool flat =
        ranges.flat_ring_from >= 0 && bytes >= ranges.flat_ring_from;
    return flat || !WhyNotHierarchical(shape).empty()
               ? Algorithm::kRing
               : Algorithm::kHierarchical;
  }
  return plans::ChooseStage(plans::WholeTeam(shape), GoalOf(problem.kind),
                            bytes, ranges);
}

absl::Status CheckAlgorithm(const Problem& problem, const GroupShape& shape,
                            Algorithm algorithm) {
  if (algorithm == Algorithm::kAuto) return absl::OkStatus();
  const std::string why = WhyNot(problem, shape, algorithm);
  if (why.empty()) return absl::OkStatus();
  std::string can;
  for (size_t a = 1; a < kAlgorithmNames.size(); ++a) {
    if (!WhyNot(problem, shape, static_cast<Algorithm>(a)).empty()) continue;
    can += (can.empty() ? "" : ", ") + std::string(kAlgorithmNames[a]);
  }
  return MakeFault(Category::kIllegal, "collective.algorithm",
                   std::string(Name(problem.kind)) + " of this group of " +
                       std::to_string(shape.members) + " cannot run as " +
                       std::string(Name(algorithm)) + ": " + why +
                       "; it can run as " + can);
}

absl::StatusOr<Plan> MakePlan(const Problem& problem, const GroupShape& shape,
                              Algorithm algorithm, const Ranges& ranges) {
  absl::Status status = plans::CheckShape(shape);
  if (status.ok()) status = CheckProblem(problem, shape.members);
  if (status.ok()) status = CheckAlgorithm(problem, shape, algorithm);
  if (!status.ok()) return status;
  if (algorithm == Algorithm::kAuto) {
    algorithm = Choose(problem, shape, ranges);
  }
  PlanWriter writer(algorithm, shape.members);
  if (algorithm == Algorithm::kDirect) {
    plans::Direct(problem, writer);
  } else if (algorithm == Algorithm::kHierarchical) {
    plans::Hierarchical(problem, shape, ranges, writer);
  } else {
    WriteFlat(problem, shape, algorithm, writer);
  }
  return std::move(writer).Finish();
}

}  // namespace trnemu
