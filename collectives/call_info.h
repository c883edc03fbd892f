// What a rank's call of a collective says, so far as the others of its group
// must agree with it: no memory, so that it can travel between processes.
#ifndef TRNEMU_COLLECTIVES_CALL_INFO_H_
#define TRNEMU_COLLECTIVES_CALL_INFO_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/run.h"
#include "core/transport.h"

namespace trnemu {

struct CallInfo {
  int32_t rank = 0;
  int32_t core = 0;  // of the rank; 0, too, of a collective of both
  CollectiveKind kind = CollectiveKind::kAllReduce;
  AluOp op = AluOp::kNone;
  Dtype dtype = Dtype::kInvalid;
  bool in_sbuf = false;
  bool in_place = false;  // Problem::in_place
  int64_t dim = 0, channel = 0, peer = 0, stream = 0;
  bool recv_counts_known = false, has_rdispls = false;
  std::vector<uint32_t> members;  // ranks that meet, in order
  std::vector<std::vector<uint32_t>> pairs;  // of a permute
  bool inactive = false;  // a permute's pairs do not name it: it meets nobody
  std::vector<int64_t> src_elements, dst_elements;  // by tensor
  int64_t rows = 1;                // Problem::rows
  std::vector<uint32_t> metadata;  // rows of the v operations, as read
  Ticks trigger = 0;
  int64_t ticket = 0;
  int64_t instruction = 0;  // program order
  std::string source;       // where, for faults

  // The collectives of a core and stream go one after the other.
  std::pair<int32_t, int64_t> Lane() const { return {core, stream}; }
  // Those who meet under one key meet in the order in which they come.
  std::vector<uint32_t> Key() const;
  bool is_v() const {
    return kind == CollectiveKind::kAllGatherV ||
           kind == CollectiveKind::kAllToAllV;
  }
};

// `illegal` (collective.not_in_group, collective.rank, collective.overlap) if
// the rank is in no list of the group, the system has no such rank, or src and
// dst share memory in another way than Problem::in_place says.
absl::StatusOr<CallInfo> InfoOf(const CollectiveCall& call, uint32_t rank,
                                int ranks);

// What a and b, which meet, do not agree on: "op: add and maximum"; "" if
// they agree.
std::string Disagreement(const CallInfo& a, const CallInfo& b);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_CALL_INFO_H_
