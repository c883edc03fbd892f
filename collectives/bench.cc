#include "collectives/bench.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collectives/bench_program.h"
#include "collectives/choose.h"
#include "collectives/cluster.h"

namespace trnemu {
namespace {

using enum CollectiveKind;

constexpr std::array<CollectiveSubject, 10> kSubjects = {{
    {"all_reduce", kAllReduce, "each rank's buffer", 2, true},
    {"all_gather", kAllGather, "each rank's result", 1, false},
    {"reduce_scatter", kReduceScatter, "each rank's source", 1, true},
    {"all_to_all", kAllToAll, "each rank's source", 1, false},
    {"broadcast", kBroadcast, "the root's buffer", 0, false},
    {"collective_permute", kPermute,
     "what each rank sends to the next of its group", 0, false},
    {"collective_permute_implicit", kPermuteImplicit,
     "what each rank sends to the next of its group", 0, false},
    {"collective_permute_implicit_reduce", kPermuteImplicitReduce,
     "what each rank sends to the next of its group", 0, true},
    {"send_recv", kSend, "what the first rank of a group sends to the second",
     0, false},
    {"collective_barrier", kBarrier, "", 0, false},
}};

// Bytes of inputs and outputs that a check may hold.
constexpr int64_t kMostCheckedBytes = 4'000'000'000;

absl::Status WrongQuery(std::string_view id, const std::string& message) {
  return MakeFault(Category::kInput, id, message);
}

class Bench {
 public:
  explicit Bench(const CollectiveQuery& query) : query_(query) {}

  absl::StatusOr<std::vector<CollectiveRow>> Do() {
    absl::Status status = Complete();
    for (size_t i = 0; status.ok() && i < query_.sizes.size(); ++i) {
      status = Measure(query_.sizes[i]);
    }
    if (!status.ok()) return status;
    return std::move(rows_);
  }

 private:
  absl::Status Complete();
  absl::Status CheckGroups();
  absl::Status FindAlgorithms();
  absl::Status Measure(int64_t size);
  absl::StatusOr<CollectiveRow> RowOf(
      const CollectiveCase& one,
      const std::vector<std::shared_ptr<const Program>>& programs,
      const CollectiveCase::Data& data, Algorithm algorithm);

  CollectiveQuery query_;
  const CollectiveSubject* subject_ = nullptr;
  std::vector<CollectiveRow> rows_;
};

absl::Status Bench::Complete() {
  subject_ = FindCollectiveSubject(query_.operation);
  if (subject_ == nullptr) {
    std::string names;
    for (const CollectiveSubject& s : kSubjects) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(s.name));
    }
    return WrongQuery("option.collective",
                      absl::StrCat("\"", query_.operation,
                                   "\" is not measured; there are ", names));
  }
  if (IsPacked(query_.dtype)) {
    return WrongQuery("option.collective",
                      absl::StrCat("collectives are not measured in ",
                                   std::string(Name(query_.dtype))));
  }
  if (query_.memory != Space::kHbm && query_.memory != Space::kSbuf) {
    return WrongQuery("option.collective",
                      "collectives are in HBM, or in SBUF");
  }
  const int most = 2 * query_.topology->lnc();
  if (query_.streams < 1 || query_.streams > most) {
    return WrongQuery("option.collective",
                      absl::StrCat("a rank of ", query_.topology->lnc(),
                                   " cores (lnc) has 1 to ", most,
                                   " streams, not ", query_.streams));
  }
  if (query_.sizes.empty()) query_.sizes = {1 << 20};
  for (const int64_t size : query_.sizes) {
    if (size >= 0) continue;
    return WrongQuery("option.collective",
                      absl::StrCat("a size is not negative, as ", size));
  }
  if (subject_->kind == kBarrier) query_.sizes = {0};
  if (query_.check) query_.values = true;
  absl::Status status = CheckGroups();
  if (status.ok()) status = FindAlgorithms();
  return status;
}

absl::Status Bench::CheckGroups() {
  const int ranks = query_.topology->ranks();
  if (query_.groups.empty()) {
    auto& all = query_.groups.emplace_back();
    const int count = subject_->kind == kSend ? std::min(2, ranks) : ranks;
    for (int r = 0; r < count; ++r) all.push_back(static_cast<uint32_t>(r));
  }
  std::set<uint32_t> seen;
  for (const auto& group : query_.groups) {
    if (group.empty() || group.size() != query_.groups[0].size()) {
      return WrongQuery("option.group",
                        "the groups of a measurement have one length each");
    }
    for (const uint32_t rank : group) {
      if (rank >= static_cast<uint32_t>(ranks)) {
        return WrongQuery("option.group",
                          absl::StrCat("there is no rank ", rank, ": the ",
                                       ranks, " ranks are 0 to ", ranks - 1));
      }
      if (!seen.insert(rank).second) {
        return WrongQuery("option.group",
                          absl::StrCat("rank ", rank, " is there twice"));
      }
    }
  }
  if (subject_->kind == kSend && query_.groups[0].size() != 2) {
    return WrongQuery("option.group",
                      absl::StrCat("send_recv is of two ranks, not of ",
                                   query_.groups[0].size()));
  }
  return absl::OkStatus();
}

absl::Status Bench::FindAlgorithms() {
  if (!query_.algorithms.empty()) return absl::OkStatus();
  Problem problem;
  problem.kind = subject_->kind;
  problem.op = subject_->reduces ? query_.op : AluOp::kNone;
  problem.dtype = query_.dtype;
  problem.src_elements = {static_cast<int64_t>(query_.groups[0].size())};
  query_.algorithms = {Algorithm::kAuto};
  for (size_t a = 1; a < kAlgorithmNames.size(); ++a) {
    const auto algorithm = static_cast<Algorithm>(a);
    bool fits = true;
    for (const auto& group : query_.groups) {
      const std::vector<int32_t> ranks(group.begin(), group.end());
      const auto shape = query_.topology->ShapeOf(ranks);
      if (!shape.ok()) return shape.status();
      fits = fits && CheckAlgorithm(problem, *shape, algorithm).ok();
    }
    if (fits) query_.algorithms.push_back(algorithm);
  }
  return absl::OkStatus();
}

absl::Status Bench::Measure(int64_t size) {
  const CollectiveCase one(query_, *subject_, size);
  const int64_t data_bytes = one.data_bytes() * query_.topology->ranks();
  if (query_.values && data_bytes > kMostCheckedBytes) {
    return MakeFault(
        Category::kLimit, "limit.host_memory",
        absl::StrCat("with values, ", size, " bytes are ", data_bytes,
                     " bytes of inputs and outputs on ",
                     query_.topology->ranks(), " ranks; ", kMostCheckedBytes,
                     " are the most"));
  }
  const auto programs = one.Programs();
  if (!programs.ok()) return programs.status();
  CollectiveCase::Data data;
  if (query_.values) data = one.MakeData();
  for (const Algorithm algorithm : query_.algorithms) {
    if (query_.interrupted && query_.interrupted()) {
      return MakeFault(Category::kLimit, "limit.interrupted",
                       "the run was interrupted");
    }
    if (query_.say) {
      query_.say(absl::StrCat(query_.operation, " of ", one.bytes(), " bytes, ",
                              std::string(Name(algorithm))));
    }
    auto row = RowOf(one, *programs, data, algorithm);
    if (!row.ok()) return row.status();
    row->size = size;
    rows_.push_back(*std::move(row));
  }
  return absl::OkStatus();
}

absl::StatusOr<CollectiveRow> Bench::RowOf(
    const CollectiveCase& one,
    const std::vector<std::shared_ptr<const Program>>& programs,
    const CollectiveCase::Data& data, Algorithm algorithm) {
  RunOptions options;
  options.values = query_.values;
  options.interrupted = query_.interrupted;
  ClusterOptions cluster;
  cluster.threads = query_.threads;
  // Without values a window is less work than waking a thread.
  if (cluster.threads == 0 && !query_.values) cluster.threads = 1;
  cluster.algorithm = algorithm;
  cluster.packet_bytes = query_.packet_bytes;
  const std::vector<Inputs> none(1);
  const auto result =
      RunCluster(query_.topology, programs, query_.values ? data.inputs : none,
                 options, cluster);
  if (!result.ok()) return result.status();
  CollectiveRow row;
  row.bytes = one.bytes();
  row.asked = algorithm;
  Ticks begin = INT64_MAX, end = 0;
  for (const CollectiveRecord& c : result->collectives) {
    begin = std::min(begin, c.last_trigger);
    end = std::max(end, c.end);
    row.moves += c.moves;
    row.hbm_read += c.hbm_read;
    row.hbm_written += c.hbm_written;
    row.link_bytes += c.link_bytes;
  }
  if (result->collectives.empty()) {
    return MakeFault(Category::kInternal, "internal.collective_check",
                     "a program of a collective ran none");
  }
  const CollectiveRecord& first = result->collectives.front();
  row.algorithm = first.algorithm;
  row.inside_nodes = first.inside_nodes;
  row.between_nodes = first.between_nodes;
  row.steps = first.steps;
  row.channels = first.channels;
  row.time_ns = static_cast<double>(end - begin) / kTicksPerNs;
  const auto n = static_cast<int64_t>(query_.groups[0].size());
  if (row.time_ns > 0) {
    row.algbw = static_cast<double>(row.bytes) / row.time_ns;
    row.busbw = row.algbw * BusFactor(*subject_, n);
  }
  if (!query_.check) return row;
  const CollectiveCase::Error error = one.Compare(data, result->ranks);
  row.max_error = error.largest;
  row.error_bound = error.bound;
  if (!error.ok) {
    return MakeFault(
        Category::kInternal, "internal.collective_check",
        absl::StrCat(query_.operation, " of ", row.bytes, " bytes by ",
                     std::string(Name(row.algorithm)), " is off by ",
                     error.largest, ", more than rounding can explain"));
  }
  return row;
}

}  // namespace

std::span<const CollectiveSubject> CollectiveSubjects() { return kSubjects; }

const CollectiveSubject* FindCollectiveSubject(std::string_view name) {
  for (const CollectiveSubject& s : kSubjects) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

double BusFactor(const CollectiveSubject& subject, int64_t n) {
  if (subject.bus_factor == 0) return 1;
  return subject.bus_factor * static_cast<double>(n - 1) /
         static_cast<double>(n);
}

absl::StatusOr<std::vector<CollectiveRow>> CollectiveCosts(
    const CollectiveQuery& query) {
  return Bench(query).Do();
}

std::vector<FastestRange> FastestRanges(std::span<const CollectiveRow> rows) {
  std::vector<const CollectiveRow*> best;  // by size
  for (const CollectiveRow& row : rows) {
    if (row.asked == Algorithm::kAuto) continue;
    const auto at = std::find_if(
        best.begin(), best.end(),
        [&](const CollectiveRow* b) { return b->bytes == row.bytes; });
    if (at == best.end()) {
      best.push_back(&row);
    } else if (row.time_ns < (*at)->time_ns) {
      *at = &row;
    }
  }
  std::sort(best.begin(), best.end(),
            [](const auto* a, const auto* b) { return a->bytes < b->bytes; });
  std::vector<FastestRange> ranges;
  for (const CollectiveRow* b : best) {
    if (!ranges.empty() && ranges.back().algorithm == b->asked) {
      ranges.back().to = b->bytes;
    } else {
      ranges.push_back({b->asked, b->bytes, b->bytes});
    }
  }
  return ranges;
}

}  // namespace trnemu
