// The links of a system as servers: each serves in the order in which it is
// asked, at its bandwidth.
#ifndef TRNEMU_COLLECTIVES_NETWORK_H_
#define TRNEMU_COLLECTIVES_NETWORK_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "collectives/cluster.h"
#include "collectives/topology.h"

namespace trnemu {

class Network {
 public:
  // Keeps a reference.
  Network(const Topology& topology, bool record)
      : topology_(topology),
        record_(record),
        free_(topology.links().size(), 0) {}

  struct Who {
    int32_t collective = 0, from_rank = 0, to_rank = 0, step = 0;
  };
  // Bytes that were sent from `start` to `end`, and may pass each link of the
  // way as they come (cut-through): when the last one arrives. Adds what the
  // links carried to `link_bytes`.
  Ticks Send(const Who& who, int64_t bytes, Ticks start, Ticks end,
             int64_t& link_bytes);
  std::vector<LinkRecord> TakeRecords() { return std::move(records_); }

 private:
  const Topology& topology_;
  const bool record_;
  std::vector<Ticks> free_;  // by link
  std::vector<LinkRecord> records_;
};

// The collective core that takes up a move: with fewer streams than cores each
// stream has one to itself, and the others are stream 0's, whose channels are
// spread over them (neuron-runtime/explore/compute-comm-overlap.rst:110). Here
// streams 1 and up have core `stream`, stream 0 core 0 and, for its further
// channels, those from the last one down; a stream that has been taken so is
// shared.
int CollectiveCoreOf(int64_t stream, int channel, int cores);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_NETWORK_H_
