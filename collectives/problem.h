// What a collective is asked to do, as all its members agree on it.
#ifndef TRNEMU_COLLECTIVES_PROBLEM_H_
#define TRNEMU_COLLECTIVES_PROBLEM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/plan.h"
#include "isa/dtype.h"
#include "isa/vocabulary.h"

namespace trnemu {

// Where the members are, as far as algorithms care. Members are numbered by
// their position in the replica group.
struct GroupShape {
  int32_t members = 0;
  // By member: its node, its chip (numbered over the system) and its place
  // among the group's members on that chip, 0 upward in group order.
  std::vector<int32_t> node, chip, local;
  // Directed cycles over the group's chips, node by node, that share no
  // directed link: what rings run over, as positions of chips in `chips`.
  // Every chip of a node is in each of its node's cycles once. At least one for
  // each node; of a node with one chip that chip alone.
  struct NodeCycles {
    std::vector<int32_t> chips;  // numbered over the system
    std::vector<std::vector<int32_t>> cycles;  // indices into chips
  };
  std::vector<NodeCycles> nodes;
  // Power-of-two exchange partners: log2(chips) lists that give for each chip
  // of a node the chip it exchanges with in that step, as indices into chips;
  // empty if the group's chips do not form one.
  std::vector<std::vector<std::vector<int32_t>>> hypercube;  // by node, axis
  // Of the system, members of the group or not.
  int32_t ranks_per_chip = 0;
};

struct Problem {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  AluOp op = AluOp::kNone;  // add, minimum, maximum
  Dtype dtype = Dtype::kInvalid;
  // By tensor of a coalesced list: elements of each member's src. All members
  // have the same, but for the v operations and send/recv.
  std::vector<int64_t> src_elements;
  // all_gather: rows in which blocks lie side by side in dst (SBUF tiles with
  // collective_dim 1: their partitions); 1: one after the other.
  int64_t rows = 1;
  int32_t root = 0;                                // broadcast: a member
  std::vector<std::pair<int32_t, int32_t>> pairs;  // permute: members
  // The v operations, by sender and receiver: elements and where they are in
  // the sender's src and the receiver's dst.
  struct Block {
    int64_t count = 0, from = 0, to = 0;
  };
  std::vector<std::vector<Block>> blocks;
  // Some member's src (or src1) and dst may share memory. all_reduce and
  // broadcast: element by element; all_gather: src is the member's own block of
  // dst; reduce_scatter: dst is its own block of src; the others: in any way.
  bool in_place = false;

  int64_t elements() const {
    int64_t n = 0;
    for (int64_t e : src_elements) n += e;
    return n;
  }
  int64_t bytes() const {  // of one member's src
    return elements() * static_cast<int64_t>(SizeOf(dtype));
  }
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_PROBLEM_H_
