// Collectives under way: whose moves have arrived where, what moves next.
#ifndef TRNEMU_COLLECTIVES_ACTIVE_H_
#define TRNEMU_COLLECTIVES_ACTIVE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/buffers.h"
#include "collectives/cluster.h"
#include "collectives/meeting.h"
#include "collectives/plan.h"

namespace trnemu {

// A collective that has started.
struct Active {
  std::shared_ptr<Meeting> meeting;
  std::shared_ptr<const Plan> plan;
  int32_t record = 0;  // of ClusterResult::collectives
  size_t element_bytes = 1;
  AluOp op = AluOp::kNone;
  Dtype dtype = Dtype::kInvalid;
  std::vector<MemberBuffers> buffers;  // by member; of local ones, with values
  std::vector<uint32_t> needs;         // by move: arrivals to come
  std::vector<Ticks> ready;            // by move: the last of them so far
  // By move, if moves are recorded: its MoveRecord, and that of the move which
  // came last of those it needs.
  std::vector<int32_t> records, after;
  // By member: moves of its own, into its memory and out of it that are left,
  // and when the last one was done.
  std::vector<int64_t> left;
  std::vector<Ticks> last;
  size_t members_left = 0;
};

// Members that a move concerns besides its own: whose memory it reads, and
// writes. Each once.
void MembersOfMove(const Plan& plan, const Move& move,
                   std::vector<int32_t>& reads, std::vector<int32_t>& writes);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_ACTIVE_H_
