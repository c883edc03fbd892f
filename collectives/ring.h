// The ring: every member sends to the next one of a cycle.
//
// One cycle for each of the team's, over the members of each chip in local
// order, each with its part of every chunk. Source:
// neuron-runtime/explore/intranode-collective-comm.rst, "Ring Algorithm".
#ifndef TRNEMU_COLLECTIVES_RING_H_
#define TRNEMU_COLLECTIVES_RING_H_

#include "collectives/stage.h"

namespace trnemu::plans {

void Ring(Stage& stage);

// Channels that `cycles` are worth for chunks of up to `longest` elements, and
// slices a channel's part of a chunk.
int ChannelsFor(const Team& team, int64_t longest);
int SlicesFor(int64_t longest, int channels);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_RING_H_
