// A run of several ranks: one program each, collectives between them.
//
// Ranks advance side by side, on several threads, through windows of simulated
// time that are shorter than anything takes to get from one rank to another;
// between two windows, what they have sent is put in order and answered, by
// one thread. So bits and times do not depend on the number of threads, nor on
// that of processes that share the run (collectives/exchange.h).
#ifndef TRNEMU_COLLECTIVES_CLUSTER_H_
#define TRNEMU_COLLECTIVES_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/plan.h"
#include "collectives/topology.h"
#include "core/profile/timeline.h"
#include "core/run.h"
#include "isa/program.h"

namespace trnemu {

class ProcessExchange;

struct ClusterOptions {
  int threads = 0;  // 0: as many as the host has processors
  Algorithm algorithm = Algorithm::kAuto;
  // Of every DMA packet of collectives; 0: the system's.
  int64_t packet_bytes = 0;
  bool record_links = false;  // ClusterResult::links
  // ClusterResult::moves, CollectiveRecord::triggers and ends.
  bool record_moves = false;
  // By rank, or empty: profiles (RunOptions::timeline of each).
  std::vector<Timeline*> timelines;
};

// A collective that took place.
struct CollectiveRecord {
  int64_t number = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Algorithm algorithm = Algorithm::kAuto;
  Algorithm inside_nodes = Algorithm::kAuto, between_nodes = Algorithm::kAuto;
  Dtype dtype = Dtype::kInvalid;
  std::vector<uint32_t> ranks;
  int64_t bytes = 0;  // the buffer that the documents call B or N C
  int32_t steps = 0, channels = 0;
  int64_t moves = 0;
  int64_t hbm_read = 0, hbm_written = 0, link_bytes = 0;
  Ticks first_trigger = 0, last_trigger = 0;
  Ticks start = 0;  // its first moves could
  Ticks end = 0;    // its last member was done
  int64_t stream = 0;
  std::string source;
  // By rank of `ranks`, with ClusterOptions::record_moves.
  std::vector<Ticks> triggers, ends;
};

// When a link carried what.
struct LinkRecord {
  int32_t link = 0;  // of the topology
  int32_t collective = 0;  // of ClusterResult::collectives
  int32_t from_rank = 0, to_rank = 0;
  int32_t step = 0;
  Ticks start = 0, end = 0;
  int64_t bytes = 0;
};

// A move that a rank's DMA engines carried out.
struct MoveRecord {
  int32_t collective = 0;  // of ClusterResult::collectives
  int32_t rank = 0;
  int32_t step = 0, channel = 0;
  int32_t cc_core = 0;  // of the rank's collective cores
  int32_t after = -1;   // the move, of ClusterResult::moves, that it waited for
  Ticks ready = 0;      // when that had arrived
  Ticks start = 0, end = 0;  // of its bytes
  int64_t bytes = 0;         // of each source
};

struct ClusterResult {
  std::vector<RunResult> ranks;  // those of other processes without outputs
  std::vector<CollectiveRecord> collectives;
  std::vector<LinkRecord> links;
  std::vector<MoveRecord> moves;  // in the order in which they became ready
  double time_ns = 0;  // of the last rank
  int threads = 1;
};

// `programs`: one for all ranks, or one for each; `inputs` likewise. Programs
// of up to `lnc` cores. Timed order only. Errors carry a Diagnostic that names
// the rank; the earliest one in simulated time, of the lowest rank.
// `exchange`: with the processes that share the run, all of which call this;
// each runs the ranks that SpreadRanks gives it, and needs only their programs
// and inputs. All get the same result (but outputs) or the same error.
absl::StatusOr<ClusterResult> RunCluster(
    std::shared_ptr<const Topology> topology,
    std::vector<std::shared_ptr<const Program>> programs,
    const std::vector<Inputs>& inputs, const RunOptions& options,
    const ClusterOptions& cluster,
    std::shared_ptr<const Hardware> hardware = {},
    ProcessExchange* exchange = nullptr);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_CLUSTER_H_
