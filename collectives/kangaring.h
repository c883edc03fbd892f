// The KangaRing: of each two ranks of a chip one, the primary, moves the data
// of both along the ring.
//
// Which of the two it is alternates between the cycles. Source:
// neuron-runtime/explore/intranode-collective-comm.rst, "KangaRing Algorithm".
#ifndef TRNEMU_COLLECTIVES_KANGARING_H_
#define TRNEMU_COLLECTIVES_KANGARING_H_

#include "collectives/stage.h"

namespace trnemu::plans {

// The team has all ranks of each chip, an even number. It is no stage that
// another one follows a gather of: `done` is set by a scatter only.
void KangaRing(Stage& stage);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_KANGARING_H_
