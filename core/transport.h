// What a rank's runner has of the system it is in: the small interface that
// collectives/ implements (collectives/cluster.h).
//
// A runner triggers collectives and carries out moves with its DMA engines;
// who takes part, what moves where, over which links and when, is the
// transport's to say. Calls into the transport only note what happened: it
// answers between the runner's turns (Runner::StartMove, Runner::Complete).
#ifndef TRNEMU_CORE_TRANSPORT_H_
#define TRNEMU_CORE_TRANSPORT_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "core/execution.h"
#include "core/run.h"
#include "isa/program.h"

namespace trnemu {

inline constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

// A collective instruction that a rank has triggered, with all its tensors.
struct CollectiveCall {
  const Instruction* instruction = nullptr;  // the last, which signals
  size_t core = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  AluOp op = AluOp::kNone;
  const ReplicaGroups* groups = nullptr;
  int64_t dim = 0, channel = 0, peer = 0, stream = 0;
  bool recv_counts_known = false, has_rdispls = false;
  // Both cores of the program have triggered it: it is the rank's, and `core`
  // is 0.
  bool both_cores = false;
  struct Tensors {
    bool has_dst = false, has_src = false, has_src1 = false;
    Tile dst, src, src1;
  };
  std::vector<Tensors> tensors;
  bool has_metadata = false;
  Tile metadata;
  // Of both cores, where each has its own in SBUF: that of core 1.
  bool has_other_metadata = false;
  Tile other_metadata;
  Ticks trigger = 0;   // when the last tensor's instruction was executed
  int64_t ticket = 0;  // of the runner: what Complete takes
};

// A move of a plan, as far as its DMA engines care.
struct MoveWork {
  int64_t id = 0;  // the transport's
  int64_t ticket = 0;
  int64_t bytes = 0;  // of each source
  int sources = 1, destinations = 1;
  int channel = 0, channels = 1;  // its share of the engines
  int cc_core = 0;                // collective core that takes it up
  int64_t packet_bytes = 0;
  Ticks cc_step = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual uint32_t rank() const = 0;
  virtual absl::Status Trigger(CollectiveCall call) = 0;
  // Its bytes could go from `start` on; the last one was written at `end`.
  virtual void MoveEnded(int64_t id, Ticks start, Ticks end) = 0;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_TRANSPORT_H_
