// Who meets whom: calls of ranks become meetings, meetings problems.
//
// The k-th call that a core of a rank makes of a group and stream meets the
// k-th of the same core of every other rank of the group; those of both cores
// count as core 0's. The collectives of a core and stream go one after the
// other (a collective core does one at a time).
#ifndef TRNEMU_COLLECTIVES_MEETING_H_
#define TRNEMU_COLLECTIVES_MEETING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collectives/call_info.h"
#include "collectives/problem.h"

namespace trnemu {

struct Meeting {
  int64_t number = 0;  // in the order of first arrivals
  std::vector<uint32_t> members;
  std::vector<CallInfo> calls;  // by member; of those that have come
  std::vector<bool> here;
  size_t missing = 0;
  bool started = false;
  size_t left = 0;  // members that are done with it

  const CallInfo& first() const;  // a call that has come
};

class Meetings {
 public:
  explicit Meetings(int ranks) : turns_(static_cast<size_t>(ranks)) {}

  // A call comes; `illegal` (collective.mismatch) if it does not agree with the
  // one it meets, naming both ranks and what differs.
  absl::Status Arrive(CallInfo call);
  // Meetings that are complete and whose turn it is on every member's stream,
  // in the order of their numbers; each is given once.
  std::vector<std::shared_ptr<Meeting>> TakeReady();
  // Of a member that is done with it: its stream goes on.
  void Leave(Meeting& meeting, uint32_t rank);
  bool Idle() const { return open_.empty(); }

  // What each open meeting waits for, for a deadlock: OK if there is none.
  // `stall` says what else a rank waits for: "" if nothing, since its program
  // has come to its end.
  absl::Status Explain(
      const std::function<std::string(uint32_t)>& stall) const;

 private:
  std::string Describe(const Meeting& meeting) const;
  // Why a rank does not come.
  std::string WhereIs(
      uint32_t rank,
      const std::function<std::string(uint32_t)>& stall) const;

  std::map<std::vector<uint32_t>, std::deque<std::shared_ptr<Meeting>>> forming_;
  std::map<int64_t, std::shared_ptr<Meeting>> open_;  // by number
  // By rank, core and stream: what it has called and is not done with.
  using Lanes = std::map<std::pair<int32_t, int64_t>,
                         std::deque<std::shared_ptr<Meeting>>>;
  std::vector<Lanes> turns_;
  int64_t next_number_ = 0;
};

// What the members of a complete meeting ask for. `illegal`
// (collective.counts) if counts or displacements go beyond a tensor.
absl::StatusOr<Problem> ProblemOf(const Meeting& meeting);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_MEETING_H_
