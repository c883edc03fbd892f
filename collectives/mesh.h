// The mesh: everyone writes straight to everyone; traffic is routed.
//
// In two steps between chips and inside them, or in one on a single chip or
// where every chip has one member. Source:
// neuron-runtime/explore/intranode-collective-comm.rst, "Mesh Algorithm", and
// internode-collective-comm.rst, the same.
#ifndef TRNEMU_COLLECTIVES_MESH_H_
#define TRNEMU_COLLECTIVES_MESH_H_

#include "collectives/stage.h"

namespace trnemu::plans {

void Mesh(Stage& stage);

// An all_reduce: the whole of everyone's `in` to everyone, each of whom reduces
// it in the order of positions.
void SingleStepMesh(Stage& stage);

// Position `p` sends the chunks of `chunks` from its `out` to the others of its
// chip. Pieces of the last move.
void AddToChip(Stage& stage, int32_t p, std::span<const int32_t> chunks);
// Its own chunk from `in`; to its own `out`, too, if it is not there: in place
// by a move of its own after `move`, the last one.
void AddOwnToChip(Stage& stage, int32_t p, uint32_t move);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_MESH_H_
