// Which algorithms a team can have, and which is taken for a stage of it.
#ifndef TRNEMU_COLLECTIVES_CHOOSE_STAGE_H_
#define TRNEMU_COLLECTIVES_CHOOSE_STAGE_H_

#include <string>

#include "collectives/choose.h"
#include "collectives/stage.h"

namespace trnemu::plans {

// Why a team cannot have the algorithm for a scatter, a gather or both; empty
// if it can.
std::string WhyNot(Algorithm algorithm, const Team& team, Goal goal);

// `bytes`: of the buffer with all chunks.
Algorithm ChooseStage(const Team& team, Goal goal, double bytes,
                      const Ranges& ranges);

// Whether the nodes' parts of a group correspond to each other.
bool Symmetric(const GroupShape& shape);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_CHOOSE_STAGE_H_
