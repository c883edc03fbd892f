#include "collectives/hierarchical.h"

#include <utility>

#include "collectives/choose_stage.h"
#include "collectives/kangaring.h"
#include "collectives/mesh.h"
#include "collectives/rdh.h"
#include "collectives/ring.h"

namespace trnemu::plans {
namespace {

size_t Index(int i) { return static_cast<size_t>(i); }

using ByMember = std::vector<std::vector<uint32_t>>;

class StagesOfGroup {
 public:
  StagesOfGroup(const Problem& problem, const GroupShape& shape,
                const Ranges& ranges, PlanWriter& writer)
      : problem_(problem),
        writer_(writer),
        nodes_(MembersByNode(shape)),
        blocks_(BlocksOf(problem, shape.members)) {
    num_nodes_ = static_cast<int>(nodes_.size());
    places_ = static_cast<int>(nodes_[0].size());
    for (int x = 0; x < num_nodes_; ++x) {
      inside_.push_back(NodeTeam(shape, x));
    }
    for (int y = 0; y < places_; ++y) {
      std::vector<int32_t> members;
      for (const auto& node : nodes_) members.push_back(node[Index(y)]);
      between_.push_back(NetworkTeam(std::move(members)));
    }
    ready_.resize(Index(shape.members));
    ChooseAlgorithms(ranges);
  }

  void Gather() {
    const Chunks chunks = blocks_.Joined(OfPlaces());
    int step = 0;
    for (int y = 0; y < places_; ++y) {
      RunBetween(y, blocks_.Joined(OfNodes(y)).Numbered(), Goal::kGather,
                 OwnBlocks(Buffer::kSrc), Full(), 0, step);
    }
    AdoptDone();
    RunInside(chunks.Numbered(), Goal::kGather, Full(), Full(), step);
  }

  void Scatter() {
    const Chunks chunks = blocks_.Joined(OfPlaces()).Numbered();
    int step = 0;
    const std::vector<End> middle = Middle(chunks);
    step = RunInside(chunks, Goal::kScatter, Full(Buffer::kSrc), middle, 0);
    AdoptDone();
    for (int y = 0; y < places_; ++y) {
      int end = 0;
      RunBetween(y, blocks_.Joined(OfNodes(y)).Numbered(), Goal::kScatter,
                 FromZero(middle, chunks), OwnBlocks(Buffer::kDst), step, end);
    }
  }

  void Reduce() {
    std::vector<int32_t> all(Index(blocks_.size()));
    for (int i = 0; i < blocks_.size(); ++i) all[Index(i)] = i;
    const Chunks chunks = blocks_.Joined({{all}}).Split(places_).Numbered();
    const std::vector<End> middle = Middle(chunks);
    int step = RunInside(chunks, Goal::kScatter, Full(Buffer::kSrc), middle, 0);
    AdoptDone();
    int end = step;
    for (int y = 0; y < places_; ++y) {
      RunBetween(y, chunks.Only(y).Split(num_nodes_).Numbered(), Goal::kReduce,
                 FromZero(middle, chunks), Full(), step, end);
    }
    AdoptDone();
    RunInside(chunks, Goal::kGather, Full(), Full(), end);
  }

 private:
  // Every node has the same algorithm; the first one speaks for all unless
  // another one's chips cannot have it.
  void ChooseAlgorithms(const Ranges& ranges) {
    const Goal goal = problem_.kind == CollectiveKind::kReduceScatter
                          ? Goal::kScatter
                          : Goal::kGather;
    double bytes = static_cast<double>(problem_.bytes());
    if (problem_.kind == CollectiveKind::kAllGather) {
      bytes *= num_nodes_ * places_;
    }
    inside_algorithm_ = ChooseStage(inside_[0], goal, bytes, ranges);
    for (const Team& team : inside_) {
      if (!WhyNot(inside_algorithm_, team, goal).empty()) {
        inside_algorithm_ = Algorithm::kRing;
      }
    }
    between_algorithm_ = ChooseStage(
        between_[0],
        problem_.kind == CollectiveKind::kAllReduce ? Goal::kReduce : goal,
        bytes / places_, ranges);
    writer_.plan().inside_nodes = inside_algorithm_;
    writer_.plan().between_nodes = between_algorithm_;
  }

  // Blocks of the members at place y of all nodes, and one by one.
  std::vector<std::vector<int32_t>> OfPlaces() const {
    std::vector<std::vector<int32_t>> lists;
    for (const Team& team : between_) lists.push_back(team.member);
    return lists;
  }
  std::vector<std::vector<int32_t>> OfNodes(int y) const {
    std::vector<std::vector<int32_t>> lists;
    for (int32_t m : between_[Index(y)].member) lists.push_back({m});
    return lists;
  }

  // Ends by member.
  std::vector<End> Full(Buffer buffer = Buffer::kDst) const {
    std::vector<End> ends;
    for (int32_t m = 0; m < blocks_.size(); ++m) {
      ends.push_back({m, buffer, Count::kFull, 0});
    }
    return ends;
  }
  std::vector<End> OwnBlocks(Buffer buffer) const {
    std::vector<End> ends;
    for (int32_t m = 0; m < blocks_.size(); ++m) {
      ends.push_back({m, buffer, Count::kBlocks, -blocks_.Start(m)});
    }
    return ends;
  }
  // Scratch for what a node's scatter leaves to a member; counted as its
  // chunks, and counted from the own chunk's start.
  std::vector<End> Middle(const Chunks& chunks) {
    std::vector<End> ends(Index(blocks_.size()));
    for (const Team& team : inside_) {
      for (int32_t y = 0; y < team.size(); ++y) {
        const int32_t m = team.member[Index(y)];
        ends[Index(m)] = {
            m, Buffer::kScratch, Count::kTeam,
            writer_.Scratch(m, chunks.Elements(y)) - chunks.Start(y)};
      }
    }
    return ends;
  }
  std::vector<End> FromZero(std::vector<End> middle, const Chunks& chunks) {
    for (const Team& team : inside_) {
      for (int32_t y = 0; y < team.size(); ++y) {
        middle[Index(team.member[Index(y)])].base += chunks.Start(y);
      }
    }
    return middle;
  }

  int RunInside(const Chunks& chunks, Goal goal, const std::vector<End>& in,
                const std::vector<End>& out, int step) {
    int end = step;
    for (const Team& team : inside_) {
      Run(inside_algorithm_, team, chunks, goal, in, out, step, end);
    }
    return end;
  }
  void RunBetween(int y, const Chunks& chunks, Goal goal,
                  const std::vector<End>& in, const std::vector<End>& out,
                  int step, int& end) {
    Run(between_algorithm_, between_[Index(y)], chunks, goal, in, out, step,
        end);
  }

  void Run(Algorithm algorithm, const Team& team, const Chunks& chunks,
           Goal goal, const std::vector<End>& in, const std::vector<End>& out,
           int step, int& end) {
    Stage stage{writer_, team, chunks, goal, {}, {}, {}};
    stage.in_place = problem_.in_place;
    stage.step = step;
    stage.want_done = team.network || goal == Goal::kScatter;
    stage.done.resize(team.member.size());
    for (int32_t m : team.member) {
      stage.in.push_back(in[Index(m)]);
      stage.out.push_back(out[Index(m)]);
      stage.ready.push_back(ready_[Index(m)]);
    }
    RunStage(algorithm, stage);
    end = stage.step;
    done_.resize(ready_.size());
    for (size_t p = 0; p < team.member.size(); ++p) {
      done_[Index(team.member[p])] = std::move(stage.done[p]);
    }
  }
  void AdoptDone() {
    ready_ = std::move(done_);
    done_.clear();
  }

  const Problem& problem_;
  PlanWriter& writer_;
  std::vector<std::vector<int32_t>> nodes_;  // members by node
  Chunks blocks_;                            // by member
  int num_nodes_ = 0, places_ = 0;
  std::vector<Team> inside_, between_;  // by node, by place
  Algorithm inside_algorithm_ = Algorithm::kRing,
            between_algorithm_ = Algorithm::kRing;
  ByMember ready_, done_;
};

}  // namespace

void RunStage(Algorithm algorithm, Stage& stage) {
  if (stage.size() == 1) return Alone(stage);
  switch (algorithm) {
    case Algorithm::kMesh:
      return Mesh(stage);
    case Algorithm::kSingleStepMesh:
      return SingleStepMesh(stage);
    case Algorithm::kRdh:
      return Rdh(stage);
    case Algorithm::kKangaRing:
      return KangaRing(stage);
    default:
      return Ring(stage);
  }
}

void Hierarchical(const Problem& problem, const GroupShape& shape,
                  const Ranges& ranges, PlanWriter& writer) {
  StagesOfGroup stages(problem, shape, ranges, writer);
  switch (problem.kind) {
    case CollectiveKind::kAllGather:
      return stages.Gather();
    case CollectiveKind::kReduceScatter:
      return stages.Scatter();
    default:
      return stages.Reduce();
  }
}

}  // namespace trnemu::plans
