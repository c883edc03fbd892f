#include "collectives/cluster.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "collectives/active.h"
#include "collectives/choose.h"
#include "collectives/exchange.h"
#include "collectives/network.h"
#include "collectives/pool.h"
#include "collectives/restrictions.h"
#include "collectives/values.h"
#include "core/device.h"
#include "core/runner.h"
#include "core/time_model.h"
#include "isa/verify.h"

namespace trnemu {
namespace {

// What a rank has done in a window.
class Port : public Transport {
 public:
  uint32_t rank_number = 0;
  int ranks = 0;
  Runner* runner = nullptr;
  std::vector<CallInfo> calls;
  std::vector<EndedMove> ended;
  std::map<int64_t, CollectiveCall> open;  // by ticket

  uint32_t rank() const override { return rank_number; }
  absl::Status Trigger(CollectiveCall call) override;
  void MoveEnded(int64_t id, Ticks start, Ticks end) override {
    ended.push_back({end, start, static_cast<int32_t>(rank_number), id});
  }

 private:
  absl::Status ReadMetadata(const CollectiveCall& call, CallInfo& info) const;
  static void ReadRows(const Tile& tile, std::vector<uint32_t>& rows);
};

absl::Status Port::ReadMetadata(const CollectiveCall& call,
                                CallInfo& info) const {
  const auto n = static_cast<int64_t>(info.members.size());
  ReadRows(call.metadata, info.metadata);
  if (!call.has_other_metadata) return absl::OkStatus();
  std::vector<uint32_t> other;
  ReadRows(call.other_metadata, other);
  const bool gather = call.kind == CollectiveKind::kAllGatherV;
  for (const int64_t row : {0, 1, 3}) {
    if (row == 3 && !call.has_rdispls) continue;
    const auto begin = static_cast<size_t>(row * n);
    for (size_t i = begin; i < begin + (gather ? 1 : static_cast<size_t>(n));
         ++i) {
      if (info.metadata[i] == other[i]) continue;
      return MakeFault(
          Category::kIllegal, "collective.cores",
          absl::StrCat("metadata_tensor has ", info.metadata[i],
                       " on core 0 and ", other[i], " on core 1 in row ", row,
                       ", column ", static_cast<int64_t>(i - begin)));
    }
  }
  return absl::OkStatus();
}

void Port::ReadRows(const Tile& tile, std::vector<uint32_t>& rows) {
  const int64_t size = static_cast<int64_t>(tile.partitions) * tile.free_size;
  rows.resize(static_cast<size_t>(size));
  ReadElements(tile, 0, size, reinterpret_cast<std::byte*>(rows.data()));
}

absl::Status Port::Trigger(CollectiveCall call) {
  absl::StatusOr<CallInfo> info = InfoOf(call, rank_number, ranks);
  if (!info.ok()) return info.status();
  info->instruction = call.instruction->order;
  info->source = runner->DescribeSource(*call.instruction);
  if (call.has_metadata) {
    if (!runner->values()) {
      return MakeFault(Category::kUnsupported, "unsupported.values_off",
                       "the sizes of this collective are read from memory, "
                       "whose values are not computed with values off");
    }
    absl::Status ok = ReadMetadata(call, *info);
    if (!ok.ok()) return ok;
  }
  calls.push_back(*std::move(info));
  open.emplace(call.ticket, std::move(call));
  return absl::OkStatus();
}

// Of a rank of another process only what this one must know of all.
struct Rank {
  bool here = false;
  std::unique_ptr<Device> device;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<Execution> execution;
  Port port;
  absl::Status status;
  Ticks next = kNever;
  std::map<std::pair<int32_t, int64_t>, Ticks> stream_free;  // by Lane()
};

class Cluster {
 public:
  Cluster(std::shared_ptr<const Topology> topology, const RunOptions& options,
          const ClusterOptions& cluster, ProcessExchange& exchange,
          std::vector<int32_t> process)
      : topology_(std::move(topology)),
        options_(options),
        cluster_(cluster),
        exchange_(exchange),
        process_(std::move(process)),
        pool_(cluster.threads > 0
                  ? cluster.threads
                  : static_cast<int>(std::thread::hardware_concurrency())),
        ranks_(static_cast<size_t>(topology_->ranks())),
        meetings_(topology_->ranks()),
        network_(*topology_, cluster.record_links) {
    // Asked between windows, by one thread.
    interrupted_ = std::exchange(options_.interrupted, nullptr);
    for (size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].here = process_[r] == exchange_.process();
      if (ranks_[r].here) here_.push_back(r);
    }
    for (size_t l = 0; l < topology_->links().size(); ++l) {
      if (topology_->failed(static_cast<int32_t>(l))) has_failed_links_ = true;
    }
  }

  absl::Status Load(const std::vector<std::shared_ptr<const Program>>& programs,
                    const std::vector<Inputs>& inputs,
                    std::shared_ptr<const Hardware> hardware);
  absl::Status Run();
  absl::StatusOr<ClusterResult> Finish();

 private:
  absl::Status OfRank(absl::Status status, size_t rank) const;
  absl::Status LoadRank(size_t r, std::shared_ptr<const Program> program,
                        const Inputs& inputs,
                        std::shared_ptr<const Hardware> hardware);
  void SetTimes();
  absl::Status Tell(News mine);
  News RunWindow(Ticks from);
  absl::Status Answer();
  absl::Status CheckHost() const;
  absl::Status TakeCalls();
  absl::Status TakeMoves();
  absl::Status StartReady();
  absl::Status Start(const std::shared_ptr<Meeting>& meeting);
  absl::StatusOr<std::shared_ptr<const Plan>> PlanOf(const Problem& problem,
                                                     const Meeting& meeting);
  absl::Status Admit(const Meeting& meeting);
  absl::Status CheckRoutes(const Plan& plan, const Meeting& meeting) const;
  void EndAlone(Meeting& meeting);
  void StartMove(int32_t slot, uint32_t move, Ticks time);
  void EndMove(const EndedMove& ended);
  void Complete(const CallInfo& call, Ticks done);
  void Arrived(int32_t slot, int32_t member, Ticks time);
  void Leave(int32_t slot, int32_t member);
  void WriteCounts(const Active& active, int32_t member);
  static absl::Status HalfLeft(const Rank& rank);
  absl::Status Conclude();
  template <typename Do>
  std::optional<Failure> FirstOfRanks(Do step);

  std::shared_ptr<const Topology> topology_;
  RunOptions options_;
  const ClusterOptions cluster_;
  ProcessExchange& exchange_;
  const std::vector<int32_t> process_;  // by rank
  Pool pool_;
  std::vector<Rank> ranks_;
  std::vector<size_t> here_;  // ranks of this process
  std::vector<News> news_;    // by process
  Meetings meetings_;
  Network network_;
  std::vector<std::unique_ptr<Active>> active_;
  std::vector<int32_t> free_slots_;
  std::map<std::vector<uint32_t>, GroupShape> shapes_;
  std::map<std::string, std::shared_ptr<const Plan>> plans_;
  std::vector<CollectiveRecord> records_;
  std::vector<MoveRecord> moves_;
  Ticks window_ = 0, start_ = 0, finish_ = 0, notify_ = 0, cc_step_ = 0;
  int64_t packet_bytes_ = 0;
  bool has_failed_links_ = false;
  std::function<bool()> interrupted_;
  const std::chrono::steady_clock::time_point started_ =
      std::chrono::steady_clock::now();
  std::vector<int32_t> reads_, writes_;
};

absl::Status Cluster::OfRank(absl::Status status, size_t rank) const {
  if (status.ok()) return status;
  Diagnostic d = DiagnosticOf(status);
  if (!d.rank) d.rank = static_cast<int>(rank);
  return ToStatus(std::move(d));
}

// Tells the others; gets what they tell, to news_. The first failure of all.
absl::Status Cluster::Tell(News mine) {
  news_ = exchange_.Tell(std::move(mine));
  return FirstFailure(news_);
}

absl::Status Cluster::LoadRank(size_t r, std::shared_ptr<const Program> program,
                               const Inputs& inputs,
                               std::shared_ptr<const Hardware> hardware) {
  Rank& rank = ranks_[r];
  const SystemDescription& system = topology_->system();
  if (program->target != system.target) {
    return MakeFault(
        Category::kInput, "option.target",
        absl::StrCat("the program is for ", std::string(Name(program->target)),
                     ", but ", system.name, " has ",
                     std::string(Name(system.target))));
  }
  const int cores =
      static_cast<int>(std::max<size_t>(1, program->cores.size()));
  if (cores > topology_->lnc()) {
    return MakeFault(
        Category::kInput, "option.lnc",
        absl::StrCat("the program has ", cores, " cores, but a rank has ",
                     topology_->lnc(), " (lnc)"));
  }
  auto device = Device::Create(system.target, cores, std::move(hardware));
  if (!device.ok()) return device.status();
  rank.device = *std::move(device);
  auto executable = rank.device->Load(std::move(program), options_.allow);
  if (!executable.ok()) return executable.status();
  rank.executable = *std::move(executable);
  RunOptions options = options_;
  if (!cluster_.timelines.empty()) options.timeline = cluster_.timelines[r];
  auto execution = rank.executable->Start(inputs, options, nullptr);
  if (!execution.ok()) return execution.status();
  rank.execution = *std::move(execution);
  rank.port.rank_number = static_cast<uint32_t>(r);
  rank.port.ranks = topology_->ranks();
  rank.port.runner = &rank.execution->connected_runner();
  rank.port.runner->Connect(&rank.port);
  rank.port.runner->SetHorizon(0);
  return absl::OkStatus();
}

// Calls step(rank's number) for each rank of this process up to the first that
// fails.
template <typename Do>
std::optional<Failure> Cluster::FirstOfRanks(Do step) {
  for (const size_t r : here_) {
    absl::Status ok = step(r);
    if (!ok.ok()) {
      return Failure{0, static_cast<int32_t>(r), OfRank(std::move(ok), r)};
    }
  }
  return std::nullopt;
}

absl::Status Cluster::Load(
    const std::vector<std::shared_ptr<const Program>>& programs,
    const std::vector<Inputs>& inputs,
    std::shared_ptr<const Hardware> hardware) {
  absl::Status ok = exchange_.Agree(FirstOfRanks([&](size_t r) {
    return LoadRank(r, programs[programs.size() == 1 ? 0 : r],
                    inputs[inputs.size() == 1 ? 0 : r], hardware);
  }));
  if (ok.ok()) SetTimes();
  return ok;
}

void Cluster::SetTimes() {
  const SystemDescription& system = topology_->system();
  const Hardware& hardware = ranks_[here_[0]].device->hardware();
  start_ = ToTicks(system.start);
  finish_ = ToTicks(system.finish);
  cc_step_ = ToTicks(system.cc_step);
  notify_ = ToTicks(
      hardware.dma.laws[static_cast<size_t>(DmaDirection::kHbm)].notify_ns);
  packet_bytes_ = cluster_.packet_bytes > 0
                      ? cluster_.packet_bytes
                      : static_cast<int64_t>(system.packet_bytes);
  // Nothing gets from one rank to another in less.
  window_ = std::max<Ticks>(1, std::min({start_, finish_, notify_}));
}

// What its ranks do in the window.
News Cluster::RunWindow(Ticks from) {
  const Ticks horizon = from + window_;
  News news;
  if (absl::Status host = CheckHost(); !host.ok()) {
    news.failure =
        Failure{from, static_cast<int32_t>(here_[0]), std::move(host)};
    return news;
  }
  std::vector<size_t> due;
  for (const size_t r : here_) {
    if (ranks_[r].next < horizon) due.push_back(r);
  }
  pool_.ForEach(due.size(), [&](size_t i) {
    Rank& rank = ranks_[due[i]];
    rank.port.runner->SetHorizon(horizon);
    rank.status = rank.execution->Continue();
    if (rank.status.ok()) rank.next = rank.port.runner->NextTime();
  });
  for (const size_t r : here_) {
    Rank& rank = ranks_[r];
    if (!rank.status.ok()) {
      const Ticks now = rank.port.runner->now();
      if (!news.failure || now < news.failure->time) {
        news.failure =
            Failure{now, static_cast<int32_t>(r), OfRank(rank.status, r)};
      }
      continue;
    }
    news.next = std::min(news.next, rank.next);
    std::move(rank.port.calls.begin(), rank.port.calls.end(),
              std::back_inserter(news.calls));
    rank.port.calls.clear();
    news.ended.insert(news.ended.end(), rank.port.ended.begin(),
                      rank.port.ended.end());
    rank.port.ended.clear();
  }
  return news;
}

absl::Status Cluster::Run() {
  News first;
  first.failure = FirstOfRanks([&](size_t r) {
    Rank& rank = ranks_[r];
    absl::Status ok = rank.execution->Continue();
    if (ok.ok()) rank.next = rank.port.runner->NextTime();
    first.next = std::min(first.next, rank.next);
    return ok;
  });
  absl::Status ok = Tell(std::move(first));
  while (ok.ok()) {
    // Of other processes' ranks: what they tell, and what they were given.
    Ticks from = kNever;
    for (const News& news : news_) from = std::min(from, news.next);
    for (const Rank& rank : ranks_) from = std::min(from, rank.next);
    if (from == kNever) return Conclude();
    ok = Tell(RunWindow(from));
    if (ok.ok()) ok = Answer();
  }
  return ok;
}

absl::Status Cluster::CheckHost() const {
  if (interrupted_ && interrupted_()) {
    return MakeFault(Category::kLimit, "limit.interrupted",
                     "the run was interrupted");
  }
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - started_;
  if (options_.max_wall_seconds && taken.count() > *options_.max_wall_seconds) {
    return MakeFault(
        Category::kLimit, "limit.wall_time",
        absl::StrCat("the run of ", ranks_.size(), " ranks takes longer than ",
                     *options_.max_wall_seconds,
                     " s on this host, the limit given; ", records_.size(),
                     " collectives were started"));
  }
  return absl::OkStatus();
}

absl::Status Cluster::Answer() {
  for (Rank& rank : ranks_) {
    if (!rank.here) rank.next = kNever;
  }
  absl::Status ok = TakeCalls();
  if (ok.ok()) ok = TakeMoves();
  if (ok.ok()) ok = StartReady();
  return ok;
}

absl::Status Cluster::TakeCalls() {
  std::vector<CallInfo> calls;
  for (News& news : news_) {
    std::move(news.calls.begin(), news.calls.end(), std::back_inserter(calls));
  }
  std::stable_sort(
      calls.begin(), calls.end(), [](const CallInfo& a, const CallInfo& b) {
        return std::tie(a.trigger, a.rank) < std::tie(b.trigger, b.rank);
      });
  for (CallInfo& call : calls) {
    const auto r = static_cast<size_t>(call.rank);
    absl::Status ok = meetings_.Arrive(std::move(call));
    if (!ok.ok()) return OfRank(ok, r);
  }
  return absl::OkStatus();
}

// A rank's call is done with.
void Cluster::Complete(const CallInfo& call, Ticks done) {
  Rank& rank = ranks_[static_cast<size_t>(call.rank)];
  rank.next = std::min(rank.next, done);
  if (!rank.here) return;
  rank.port.runner->Complete(call.ticket, done);
  rank.port.open.erase(call.ticket);
}

absl::Status Cluster::TakeMoves() {
  std::vector<EndedMove> ended;
  for (const News& news : news_) {
    ended.insert(ended.end(), news.ended.begin(), news.ended.end());
  }
  if (ended.empty()) return absl::OkStatus();
  std::stable_sort(
      ended.begin(), ended.end(), [](const EndedMove& a, const EndedMove& b) {
        return std::tie(a.end, a.rank, a.id) < std::tie(b.end, b.rank, b.id);
      });
  if (options_.values) {
    std::vector<MoveOfValues> moves;
    for (const EndedMove& e : ended) {
      moves.push_back({active_[static_cast<size_t>(e.id >> 32)].get(),
                       static_cast<uint32_t>(e.id)});
    }
    MoveValues(moves, options_.numerics, pool_, exchange_, process_);
  }
  for (const EndedMove& e : ended) EndMove(e);
  return absl::OkStatus();
}

absl::Status Cluster::StartReady() {
  for (const auto& meeting : meetings_.TakeReady()) {
    absl::Status ok = Start(meeting);
    if (!ok.ok()) return ok;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Plan>> Cluster::PlanOf(
    const Problem& problem, const Meeting& meeting) {
  auto shape = shapes_.find(meeting.members);
  if (shape == shapes_.end()) {
    const std::vector<int32_t> group(meeting.members.begin(),
                                     meeting.members.end());
    absl::StatusOr<GroupShape> made = topology_->ShapeOf(group);
    if (!made.ok()) return made.status();
    shape = shapes_.emplace(meeting.members, *std::move(made)).first;
  }
  const SystemDescription& system = topology_->system();
  Ranges ranges;
  ranges.mesh_up_to = system.mesh_up_to;
  ranges.rdh_up_to = system.rdh_up_to;
  std::string key;
  if (problem.blocks.empty()) {
    key = absl::StrCat(static_cast<int>(problem.kind), ".",
                       static_cast<int>(problem.op), ".",
                       static_cast<int>(problem.dtype), ".", problem.rows, ".",
                       problem.root, ".", problem.in_place ? 1 : 0, ":");
    for (int64_t n : problem.src_elements) absl::StrAppend(&key, n, ",");
    for (const auto& p : problem.pairs) {
      absl::StrAppend(&key, p.first, ">", p.second, ",");
    }
    for (uint32_t m : meeting.members) absl::StrAppend(&key, " ", m);
    const auto known = plans_.find(key);
    if (known != plans_.end()) return known->second;
  }
  absl::StatusOr<Plan> plan =
      MakePlan(problem, shape->second, cluster_.algorithm, ranges);
  if (!plan.ok()) return plan.status();
  absl::Status reached = CheckRoutes(*plan, meeting);
  if (!reached.ok()) return reached;
  auto kept = std::make_shared<const Plan>(*std::move(plan));
  if (!key.empty()) plans_.emplace(std::move(key), kept);
  return kept;
}

// Where links have failed: whether every move gets to where it goes.
absl::Status Cluster::CheckRoutes(const Plan& plan,
                                  const Meeting& meeting) const {
  if (!has_failed_links_) return absl::OkStatus();
  std::set<std::pair<int, int>> seen;
  const auto chip_of = [&](int32_t member) {
    return topology_->ChipOf(
        static_cast<int>(meeting.members[static_cast<size_t>(member)]));
  };
  for (const Move& move : plan.moves) {
    const int from = chip_of(move.member);
    for (const Piece& piece : plan.PiecesOf(move)) {
      for (const Place& place : plan.DestinationsOf(piece)) {
        const int to = chip_of(place.member);
        if (from == to || !seen.emplace(from, to).second) continue;
        const auto route = topology_->Route(from, to);
        if (!route.ok()) return route.status();
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Cluster::Start(const std::shared_ptr<Meeting>& meeting) {
  const CallInfo& first = meeting->first();
  const auto rank_of = static_cast<size_t>(first.rank);
  const auto located = [&](const absl::Status& status) {
    Diagnostic d = DiagnosticOf(status);
    if (d.operation.empty()) d.operation = Name(first.kind);
    if (!d.instruction) d.instruction = first.instruction;
    if (d.source.empty()) d.source = first.source;
    return OfRank(ToStatus(std::move(d)), rank_of);
  };
  if (first.inactive) {  // its turn on the stream has come
    EndAlone(*meeting);
    return absl::OkStatus();
  }
  absl::Status ok = Admit(*meeting);
  if (!ok.ok()) return located(ok);
  absl::StatusOr<Problem> problem = ProblemOf(*meeting);
  if (!problem.ok()) return located(problem.status());
  auto plan = PlanOf(*problem, *meeting);
  if (!plan.ok()) return located(plan.status());

  int32_t slot = static_cast<int32_t>(active_.size());
  if (free_slots_.empty()) {
    active_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  active_[static_cast<size_t>(slot)] = std::make_unique<Active>();
  Active& a = *active_[static_cast<size_t>(slot)];
  a.meeting = meeting;
  a.plan = *plan;
  a.record = static_cast<int32_t>(records_.size());
  a.dtype = problem->dtype;
  a.op = problem->op;
  a.element_bytes = SizeOf(problem->dtype);
  const size_t members = meeting->members.size();
  a.members_left = members;
  a.left.assign(members, 0);
  a.last.assign(members, 0);
  a.needs.reserve(a.plan->moves.size());
  a.ready.assign(a.plan->moves.size(), 0);
  if (cluster_.record_moves) {
    a.records.assign(a.plan->moves.size(), -1);
    a.after.assign(a.plan->moves.size(), -1);
  }
  for (const Move& move : a.plan->moves) {
    a.needs.push_back(move.needs);
    MembersOfMove(*a.plan, move, reads_, writes_);
    ++a.left[static_cast<size_t>(move.member)];
    for (int32_t m : reads_) ++a.left[static_cast<size_t>(m)];
    for (int32_t m : writes_) ++a.left[static_cast<size_t>(m)];
  }
  CollectiveRecord& record = records_.emplace_back();
  record.number = meeting->number;
  record.kind = problem->kind;
  record.algorithm = a.plan->algorithm;
  record.inside_nodes = a.plan->inside_nodes;
  record.between_nodes = a.plan->between_nodes;
  record.dtype = problem->dtype;
  record.ranks = meeting->members;
  record.bytes = DocumentedBytes(*problem, static_cast<int64_t>(members));
  record.steps = a.plan->steps;
  record.channels = a.plan->channels;
  record.moves = static_cast<int64_t>(a.plan->moves.size());
  record.stream = first.stream;
  record.source = first.source;
  record.first_trigger = kNever;
  Ticks begin = 0;
  for (size_t m = 0; m < members; ++m) {
    const CallInfo& call = meeting->calls[m];
    Rank& rank = ranks_[static_cast<size_t>(call.rank)];
    record.first_trigger = std::min(record.first_trigger, call.trigger);
    record.last_trigger = std::max(record.last_trigger, call.trigger);
    if (cluster_.record_moves) {
      record.triggers.push_back(call.trigger);
      record.ends.push_back(call.trigger);
    }
    begin = std::max(begin, rank.stream_free[call.Lane()]);
    if (options_.values && !rank.here) {
      a.buffers.emplace_back();
    } else if (options_.values) {
      a.buffers.emplace_back(
          rank.port.open.at(call.ticket), a.dtype,
          a.plan->scratch_elements.empty() ? 0 : a.plan->scratch_elements[m]);
    }
  }
  begin = std::max(begin, record.last_trigger) + start_;
  record.start = begin;
  for (int32_t m = 0; m < static_cast<int32_t>(members); ++m) {
    a.last[static_cast<size_t>(m)] = begin;
  }
  for (uint32_t i = 0; i < a.plan->moves.size(); ++i) {
    if (a.needs[i] == 0) StartMove(slot, i, begin);
  }
  // Members that have nothing to do. (Leave may end the collective.)
  const std::vector<int64_t> left = a.left;
  for (size_t m = 0; m < members; ++m) {
    if (left[m] == 0) Leave(slot, static_cast<int32_t>(m));
  }
  return absl::OkStatus();
}

// A call that nobody else takes part in is complete when it is started.
void Cluster::EndAlone(Meeting& meeting) {
  const CallInfo& call = meeting.first();
  Rank& rank = ranks_[static_cast<size_t>(call.rank)];
  Ticks& free = rank.stream_free[call.Lane()];
  free = std::max(free, call.trigger) + start_ + finish_;
  Complete(call, free);
  meetings_.Leave(meeting, static_cast<uint32_t>(call.rank));
}

// What the documents do not support here, and what nothing has written.
absl::Status Cluster::Admit(const Meeting& meeting) {
  const CallInfo& first = meeting.first();
  const Rank& reporter = ranks_[static_cast<size_t>(first.rank)];
  for (Diagnostic& d : RestrictionsOn(meeting, *topology_)) {
    const bool allowed = IsAllowed(d, options_.allow);
    if (!allowed && d.severity == Severity::kWarning) {
      if (options_.strict) d.severity = Severity::kError;
    } else if (allowed) {
      d.severity = Severity::kWarning;
    }
    if (d.severity == Severity::kError) return ToStatus(std::move(d));
    d.operation = Name(first.kind);
    d.instruction = first.instruction;
    d.source = first.source;
    d.rank = first.rank;
    if (reporter.here) reporter.port.runner->Warn(std::move(d));
  }
  std::optional<Failure> unwritten;  // the first member's
  for (size_t m = 0; m < meeting.calls.size() && !unwritten; ++m) {
    const CallInfo& call = meeting.calls[m];
    const auto r = static_cast<size_t>(call.rank);
    if (!ranks_[r].here) continue;
    const Port& port = ranks_[r].port;
    absl::Status ok = port.runner->CheckSources(port.open.at(call.ticket));
    if (ok.ok()) continue;
    unwritten = Failure{0, static_cast<int32_t>(m), OfRank(ok, r)};
  }
  if (!options_.values) return absl::OkStatus();
  return exchange_.Agree(std::move(unwritten));
}

void Cluster::StartMove(int32_t slot, uint32_t index, Ticks time) {
  Active& a = *active_[static_cast<size_t>(slot)];
  const Move& move = a.plan->moves[index];
  const auto member = static_cast<size_t>(move.member);
  const CallInfo& call = a.meeting->calls[member];
  Rank& rank = ranks_[static_cast<size_t>(call.rank)];
  MoveWork work;
  work.id = static_cast<int64_t>(slot) << 32 | index;
  work.ticket = call.ticket;
  int64_t elements = 0, read = 0;
  for (const Piece& piece : a.plan->PiecesOf(move)) {
    elements += piece.elements;
    read += piece.elements * piece.sources;
  }
  work.bytes = elements * static_cast<int64_t>(a.element_bytes);
  work.sources =
      elements == 0 ? 1 : static_cast<int>((read + elements - 1) / elements);
  work.channel = move.channel;
  work.channels = std::max<int>(1, move.channels);
  const int cc_cores = topology_->system().cc_cores_per_core;
  const int all = topology_->lnc() * cc_cores;
  work.cc_core = (CollectiveCoreOf(call.stream, move.channel, all) +
                  call.core * cc_cores) %
                 all;
  work.packet_bytes = packet_bytes_;
  work.cc_step = cc_step_;
  if (cluster_.record_moves) {
    a.records[index] = static_cast<int32_t>(moves_.size());
    moves_.push_back({a.record, call.rank, move.step, move.channel,
                      work.cc_core, a.after[index], time, time, time,
                      work.bytes});
  }
  rank.next = std::min(rank.next, time);
  if (rank.here) rank.port.runner->StartMove(work, time);
}

void Cluster::EndMove(const EndedMove& ended) {
  const auto slot = static_cast<int32_t>(ended.id >> 32);
  const auto index = static_cast<uint32_t>(ended.id);
  Active& a = *active_[static_cast<size_t>(slot)];
  const Plan& plan = *a.plan;
  const Move& move = plan.moves[index];
  const auto bytes_of = [&](int64_t elements) {
    return elements * static_cast<int64_t>(a.element_bytes);
  };
  const auto count = [&](int32_t member, int64_t read, int64_t written) {
    Rank& rank = ranks_[a.meeting->members[static_cast<size_t>(member)]];
    if (rank.here) rank.port.runner->CountRemote(read, written);
  };
  CollectiveRecord& record = records_[static_cast<size_t>(a.record)];
  if (cluster_.record_moves) {
    MoveRecord& done = moves_[static_cast<size_t>(a.records[index])];
    done.start = ended.start;
    done.end = ended.end;
  }
  MembersOfMove(plan, move, reads_, writes_);
  // Bytes to each member that it writes to.
  std::vector<int64_t> to(writes_.size(), 0);
  for (const Piece& piece : plan.PiecesOf(move)) {
    const int64_t bytes = bytes_of(piece.elements);
    for (const Place& place : plan.SourcesOf(piece)) {
      record.hbm_read += bytes;
      count(place.member, bytes, 0);
    }
    for (const Place& place : plan.DestinationsOf(piece)) {
      record.hbm_written += bytes;
      count(place.member, 0, bytes);
      const auto at = std::find(writes_.begin(), writes_.end(), place.member);
      if (at != writes_.end()) {
        to[static_cast<size_t>(at - writes_.begin())] += bytes;
      }
    }
  }
  const Ticks own = ended.end + notify_;
  Ticks last = own;
  std::vector<Ticks> arrivals(writes_.size());
  for (size_t w = 0; w < writes_.size(); ++w) {
    const auto target = static_cast<int32_t>(
        a.meeting->members[static_cast<size_t>(writes_[w])]);
    arrivals[w] =
        network_.Send({a.record, ended.rank, target, move.step}, to[w],
                      ended.start, ended.end, record.link_bytes) +
        notify_;
    last = std::max(last, arrivals[w]);
  }
  for (const uint32_t next : plan.SuccessorsOf(move)) {
    const int32_t member = plan.moves[next].member;
    const auto at = std::find(writes_.begin(), writes_.end(), member);
    const Ticks seen = at != writes_.end()
                           ? arrivals[static_cast<size_t>(at - writes_.begin())]
                       : member == move.member && writes_.empty() ? own
                                                                  : last;
    if (cluster_.record_moves && seen >= a.ready[next]) {
      a.after[next] = a.records[index];
    }
    a.ready[next] = std::max(a.ready[next], seen);
    if (--a.needs[next] == 0) StartMove(slot, next, a.ready[next]);
  }
  const std::vector<int32_t> reads = reads_, writes = writes_;
  Arrived(slot, move.member, own);
  for (int32_t member : reads) Arrived(slot, member, own);
  for (size_t w = 0; w < writes.size(); ++w) {
    Arrived(slot, writes[w], arrivals[w]);
  }
}

void Cluster::Arrived(int32_t slot, int32_t member, Ticks time) {
  Active& a = *active_[static_cast<size_t>(slot)];
  const auto m = static_cast<size_t>(member);
  a.last[m] = std::max(a.last[m], time);
  if (--a.left[m] == 0) Leave(slot, member);
}

void Cluster::WriteCounts(const Active& a, int32_t member) {
  const auto m = static_cast<size_t>(member);
  const CallInfo& call = a.meeting->calls[m];
  const Rank& rank = ranks_[static_cast<size_t>(call.rank)];
  if (!rank.here || !call.is_v() || call.recv_counts_known) return;
  const CollectiveCall& open = rank.port.open.at(call.ticket);
  const size_t n = a.meeting->members.size();
  std::vector<uint32_t> counts(n);
  for (size_t from = 0; from < n; ++from) {
    const CallInfo& sender = a.meeting->calls[from];
    counts[from] =
        sender.metadata[call.kind == CollectiveKind::kAllGatherV ? 0 : m];
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(counts.data());
  const auto at = static_cast<int64_t>(2 * n), size = static_cast<int64_t>(n);
  WriteElements(open.metadata, at, size, bytes);
  if (open.has_other_metadata) {
    WriteElements(open.other_metadata, at, size, bytes);
  }
}

// A member is done.
void Cluster::Leave(int32_t slot, int32_t member) {
  Active& a = *active_[static_cast<size_t>(slot)];
  const auto m = static_cast<size_t>(member);
  const CallInfo& call = a.meeting->calls[m];
  const Ticks done = a.last[m] + finish_;
  WriteCounts(a, member);
  Complete(call, done);
  ranks_[static_cast<size_t>(call.rank)].stream_free[call.Lane()] = done;
  CollectiveRecord& record = records_[static_cast<size_t>(a.record)];
  record.end = std::max(record.end, done);
  if (cluster_.record_moves) record.ends[m] = done;
  meetings_.Leave(*a.meeting, static_cast<uint32_t>(call.rank));
  if (--a.members_left > 0) return;
  active_[static_cast<size_t>(slot)].reset();
  free_slots_.push_back(slot);
}

// What a rank waits for; "" at the end of its program.
std::string StallOf(const Runner& runner) {
  const auto sequencers = runner.sequencers();
  if (std::all_of(sequencers.begin(), sequencers.end(),
                  [](const Sequencer& s) { return s.done(); })) {
    return "";
  }
  const absl::Status stall = runner.ReportStall();
  if (stall.ok()) return "waits for something else";
  const Diagnostic d = DiagnosticOf(stall);
  const std::string text(absl::StripPrefix(d.message, "nothing can proceed: "));
  return absl::StrCat("is stuck: ", text, d.source.empty() ? "" : ", at ",
                      d.source);
}

// A core that has come to a collective of both cores alone.
absl::Status Cluster::HalfLeft(const Rank& rank) {
  const Runner& runner = *rank.port.runner;
  const CollectiveCall* const half = runner.half();
  if (half == nullptr) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kDeadlock;
  d.id = "collective.deadlock";
  d.operation = Name(half->kind);
  d.instruction = half->instruction->order;
  d.source = runner.DescribeSource(*half->instruction);
  d.message = absl::StrCat(
      "nothing can proceed: core ", half->core, " of rank ",
      rank.port.rank_number, " has come to the ", std::string(Name(half->kind)),
      " of both cores, core ", 1 - half->core, " never comes to it");
  d.remedy = "let both cores call the same collectives in the same order";
  return ToStatus(std::move(d));
}

// Nothing is left to happen: all have ended, or nothing can.
absl::Status Cluster::Conclude() {
  News mine;
  mine.failure =
      FirstOfRanks([&](size_t r) { return HalfLeft(ranks_[r]); });
  if (!meetings_.Idle()) {
    for (const size_t r : here_) {
      std::string stall = StallOf(*ranks_[r].port.runner);
      if (stall.empty()) continue;
      mine.stalls.emplace_back(static_cast<int32_t>(r), std::move(stall));
    }
  }
  absl::Status ok = Tell(std::move(mine));
  if (!ok.ok()) return ok;
  std::map<uint32_t, std::string> stalls;
  for (const News& news : news_)
    stalls.insert(news.stalls.begin(), news.stalls.end());
  ok = meetings_.Explain([&](uint32_t r) { return stalls[r]; });
  if (!ok.ok()) return ok;
  pool_.ForEach(here_.size(), [&](size_t i) {
    Rank& rank = ranks_[here_[i]];
    rank.port.runner->Connect(nullptr);
    rank.port.runner->SetHorizon(kNever);
    rank.status = rank.execution->Continue();
  });
  return exchange_.Agree(
      FirstOfRanks([&](size_t r) { return ranks_[r].status; }));
}

absl::StatusOr<ClusterResult> Cluster::Finish() {
  ClusterResult result;
  result.threads = pool_.threads();
  result.ranks.resize(ranks_.size());
  std::vector<std::map<std::string, HostArray>> outputs(ranks_.size());
  News mine;
  mine.failure = FirstOfRanks([&](size_t r) {
    auto one = ranks_[r].execution->Finish();
    if (!one.ok()) return one.status();
    for (Diagnostic& d : one->diagnostics) {
      if (!d.rank) d.rank = static_cast<int>(r);
    }
    outputs[r] = std::move(one->outputs);
    mine.results.emplace_back(static_cast<int32_t>(r), *std::move(one));
    return absl::OkStatus();
  });
  absl::Status ok = Tell(std::move(mine));
  if (!ok.ok()) return ok;
  for (News& news : news_) {
    for (auto& [r, one] : news.results) {
      result.time_ns = std::max(result.time_ns, one.time_ns);
      one.outputs = std::move(outputs[static_cast<size_t>(r)]);
      result.ranks[static_cast<size_t>(r)] = std::move(one);
    }
  }
  result.collectives = std::move(records_);
  result.links = network_.TakeRecords();
  result.moves = std::move(moves_);
  return result;
}

absl::Status CheckRequest(const Topology& topology, size_t programs,
                          size_t inputs, const RunOptions& options,
                          const ClusterOptions& cluster) {
  const auto ranks = static_cast<size_t>(topology.ranks());
  const auto wrong = [&](std::string_view what, size_t count) {
    Diagnostic d;
    d.category = Category::kInput;
    d.id = "option.ranks";
    d.message = absl::StrCat("there are ", count, " ", std::string(what),
                             " for ", ranks, " ranks");
    d.remedy = "give one for all ranks, or one for each";
    return ToStatus(std::move(d));
  };
  if (programs != 1 && programs != ranks) return wrong("programs", programs);
  if (inputs != 1 && inputs != ranks) return wrong("sets of inputs", inputs);
  if (options.order != Order::kTimed) {
    return MakeFault(Category::kUnsupported, "unsupported.system_schedule",
                     "ranks of a system run in timed order only");
  }
  if (options.log || options.stop_at_nan || options.timeline != nullptr) {
    return MakeFault(Category::kUnsupported, "unsupported.system_option",
                     "logs and stop_at_nan are of one rank's runs only");
  }
  if (!cluster.timelines.empty() && cluster.timelines.size() != ranks) {
    return wrong("timelines", cluster.timelines.size());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ClusterResult> RunCluster(
    std::shared_ptr<const Topology> topology,
    std::vector<std::shared_ptr<const Program>> programs,
    const std::vector<Inputs>& inputs, const RunOptions& options,
    const ClusterOptions& cluster, std::shared_ptr<const Hardware> hardware,
    ProcessExchange* exchange) {
  absl::Status ok =
      CheckRequest(*topology, programs.size(), inputs.size(), options, cluster);
  if (!ok.ok()) return ok;
  ProcessExchange alone;
  if (exchange == nullptr) exchange = &alone;
  auto process = SpreadRanks(*topology, exchange->processes());
  if (!process.ok()) return process.status();
  Cluster run(std::move(topology), options, cluster, *exchange,
              *std::move(process));
  ok = run.Load(programs, inputs, std::move(hardware));
  if (ok.ok()) ok = run.Run();
  if (!ok.ok()) return ok;
  return run.Finish();
}

}  // namespace trnemu
