// Recursive doubling and halving.
//
// Chips exchange along one axis of a hypercube after the other, members with
// those of the same place on the partner chip; inside chips it is one step.
// Source: neuron-runtime/explore/intranode-collective-comm.rst and
// internode-collective-comm.rst, "Recursive Doubling and Halving".
#ifndef TRNEMU_COLLECTIVES_RDH_H_
#define TRNEMU_COLLECTIVES_RDH_H_

#include "collectives/stage.h"

namespace trnemu::plans {

// The team is a cube.
void Rdh(Stage& stage);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_RDH_H_
