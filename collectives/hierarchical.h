// Several nodes: stages inside nodes and between members of the same place in
// all of them, each by the algorithm that is best for it.
//
// Source: neuron-runtime/explore/internode-collective-comm.rst, "Hierarchical
// Algorithm".
#ifndef TRNEMU_COLLECTIVES_HIERARCHICAL_H_
#define TRNEMU_COLLECTIVES_HIERARCHICAL_H_

#include "collectives/choose.h"
#include "collectives/stage.h"

namespace trnemu::plans {

// One stage by an algorithm that its team can have.
void RunStage(Algorithm algorithm, Stage& stage);

// all_reduce, all_gather or reduce_scatter of a group whose nodes have equally
// many members; says in the plan which algorithms it took.
void Hierarchical(const Problem& problem, const GroupShape& shape,
                  const Ranges& ranges, PlanWriter& writer);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_HIERARCHICAL_H_
