#include "collectives/active.h"

#include <algorithm>

namespace trnemu {
namespace {

void AddOnce(int32_t member, std::vector<int32_t>& to) {
  if (std::find(to.begin(), to.end(), member) == to.end()) {
    to.push_back(member);
  }
}

}  // namespace

void MembersOfMove(const Plan& plan, const Move& move,
                   std::vector<int32_t>& reads, std::vector<int32_t>& writes) {
  reads.clear();
  writes.clear();
  for (const Piece& piece : plan.PiecesOf(move)) {
    for (const Place& place : plan.SourcesOf(piece)) {
      if (place.member != move.member) AddOnce(place.member, reads);
    }
    for (const Place& place : plan.DestinationsOf(piece)) {
      if (place.member != move.member) AddOnce(place.member, writes);
    }
  }
}

}  // namespace trnemu
