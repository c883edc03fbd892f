// Broadcast from one member.
//
// How the runtime does it is not documented (docs/collectives.md).
#ifndef TRNEMU_COLLECTIVES_BROADCAST_H_
#define TRNEMU_COLLECTIVES_BROADCAST_H_

#include "collectives/problem.h"
#include "collectives/stage.h"

namespace trnemu::plans {

// To one rank of each chip, which sends to the others there.
void BroadcastMesh(const Problem& problem, const Team& team,
                   PlanWriter& writer);
// Along the team's cycles, each with its part, as many slices as there are
// members one after the other.
void BroadcastRing(const Problem& problem, const Team& team,
                   PlanWriter& writer);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_BROADCAST_H_
