// Straight to the receiver: all_to_all, permutes, send and recv, barrier, and
// the operations with counts of their own.
//
// How the runtime does these is not documented (docs/collectives.md).
#ifndef TRNEMU_COLLECTIVES_DIRECT_H_
#define TRNEMU_COLLECTIVES_DIRECT_H_

#include "collectives/plan.h"
#include "collectives/problem.h"

namespace trnemu::plans {

void Direct(const Problem& problem, PlanWriter& writer);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_DIRECT_H_
