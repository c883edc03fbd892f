// How the cores of a stack of HBM share its bandwidth in simulated time.
//
// What a transfer may take is decided when it is triggered, and kept until it
// is done. So that all of them together never take more than the stack has,
// one that is triggered gets what those under way have left of it, its even
// share at most; and, as it cannot give back later, a core that is alone
// leaves half of each other core's even share.
#ifndef TRNEMU_CORE_HBM_SHARE_H_
#define TRNEMU_CORE_HBM_SHARE_H_

#include <vector>

#include "core/run.h"
#include "isa/hardware.h"

namespace trnemu {

class HbmShare {
 public:
  HbmShare(const MemoryLimits& memory, size_t cores);

  // Bytes a ns, reads and writes together, for a transfer of `core` that could
  // start at `ready` and is foreseen to at `start`: those before it in its
  // queue are done.
  double Grant(size_t core, Ticks ready, Ticks start) const;
  // It takes `rate` of them until `until`, at most. What is over at `now` will
  // not be asked for.
  void Take(size_t core, Ticks now, Ticks until, double rate);

 private:
  struct Taken {
    Ticks until = 0;
    double rate = 0;
  };
  double TakenBy(size_t core, Ticks at) const;

  const double bandwidth_;  // of a stack
  const size_t stack_;      // cores of one
  // By core: the most that is taken until a time; later ones are less.
  std::vector<std::vector<Taken>> taken_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_HBM_SHARE_H_
