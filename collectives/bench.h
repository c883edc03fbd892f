// What a collective costs over sizes: programs that are built and run on all
// ranks, as a benchmark would; behind `trnemu collective` and
// trnemu.collective.
//
// Size and bandwidths are those of NCCL's tests (nccl-tests,
// doc/PERFORMANCE.md), which is what bandwidths of collectives are commonly
// given in.
#ifndef TRNEMU_COLLECTIVES_BENCH_H_
#define TRNEMU_COLLECTIVES_BENCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/plan.h"
#include "collectives/topology.h"
#include "isa/program.h"

namespace trnemu {

// An operation that can be measured.
struct CollectiveSubject {
  // Of the operation, but for send_recv: the first rank of each group sends to
  // its second.
  std::string_view name;
  CollectiveKind kind;
  std::string_view size;  // whose bytes the size is; "" if it has none
  // busbw = algbw times this much of (n - 1) / n, for a group of n; 0: algbw.
  int bus_factor;
  bool reduces;
};
std::span<const CollectiveSubject> CollectiveSubjects();
const CollectiveSubject* FindCollectiveSubject(std::string_view name);
// busbw / algbw in a group of n: 2 (n - 1) / n of an all_reduce, ...
double BusFactor(const CollectiveSubject& subject, int64_t n);

struct CollectiveQuery {
  std::string operation;
  std::shared_ptr<const Topology> topology;
  // Side by side, all of one length; none: all ranks in one, of send_recv ranks
  // 0 and 1. Ranks that are in none do nothing.
  ReplicaGroups groups;
  // Bytes. Rounded up to what can be divided among the ranks of a group, and
  // one element a stream at least.
  std::vector<int64_t> sizes;
  Dtype dtype = Dtype::kBFloat16;
  AluOp op = AluOp::kAdd;
  // SBUF: loaded before the collective and stored after it, outside its time.
  Space memory = Space::kHbm;
  // A row for each size and algorithm; none: all that the groups can have, and
  // what the automatic choice takes.
  std::vector<Algorithm> algorithms = {Algorithm::kAuto};
  int64_t packet_bytes = 0;  // 0: the system's
  int streams = 1;           // so many at once, each of a part of the buffer
  bool values = false;
  // With values, and compared with sums in fp64 of what the ranks have.
  bool check = false;
  int threads = 0;
  std::function<bool()> interrupted;     // true ends with limit.interrupted
  std::function<void(std::string)> say;  // what comes next
};

struct CollectiveRow {
  int64_t size = 0;   // as asked for
  int64_t bytes = 0;  // what ran
  Algorithm asked = Algorithm::kAuto;
  Algorithm algorithm = Algorithm::kAuto;
  Algorithm inside_nodes = Algorithm::kAuto, between_nodes = Algorithm::kAuto;
  int32_t steps = 0, channels = 0;
  int64_t moves = 0;
  // From the first trigger whose group was complete to the end of the last
  // rank of the last group; simulated.
  double time_ns = 0;
  double algbw = 0, busbw = 0;                            // B/ns, which is GB/s
  int64_t hbm_read = 0, hbm_written = 0, link_bytes = 0;  // of all ranks
  // With check: the largest error, and the most that rounding at every step can
  // make of it; 0 and 0 where bits are moved, or the least or largest taken.
  std::optional<double> max_error, error_bound;
};

// Rows by size, then algorithm. `input` (option.collective) for a query that
// makes no sense; `illegal` for what the device or the groups cannot have;
// `limit` (limit.host_memory) for a check of more than 4 GB of data; `internal`
// (internal.collective_check) if a check fails.
absl::StatusOr<std::vector<CollectiveRow>> CollectiveCosts(
    const CollectiveQuery& query);

// Where one algorithm is the fastest, from size to size, by the rows of
// algorithms that were forced; in the order of sizes, neighbours differ.
struct FastestRange {
  Algorithm algorithm = Algorithm::kAuto;
  int64_t from = 0, to = 0;  // sizes, both measured
};
std::vector<FastestRange> FastestRanges(std::span<const CollectiveRow> rows);

// "4096", "1KiB", "64kB", "1M" (as in NCCL's tests: 2^20). Nothing for others.
std::optional<int64_t> BytesFromText(std::string_view text);
// "1KiB:1GiB" (each twice the one before), "1KiB:1GiB:4" (four times),
// "4096,64KiB", and lists of these. Nothing if it is something else, or more
// than 1,000 sizes.
std::optional<std::vector<int64_t>> ByteSizesFromText(std::string_view text);
// "0,1,2,3;4,5,6,7". Nothing if it is something else.
std::optional<ReplicaGroups> GroupsFromText(std::string_view text);
// Ranks 0 to K - 1, K to 2 K - 1, ...; `input` (option.group) if they do not
// divide evenly.
absl::StatusOr<ReplicaGroups> GroupsOfSize(int ranks, int64_t size);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_BENCH_H_
