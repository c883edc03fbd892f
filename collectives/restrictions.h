// What the documents allow a collective where it runs: rules that need the
// system, beside those of the operations table.
#ifndef TRNEMU_COLLECTIVES_RESTRICTIONS_H_
#define TRNEMU_COLLECTIVES_RESTRICTIONS_H_

#include <vector>

#include "collectives/meeting.h"
#include "collectives/topology.h"
#include "isa/diagnostic.h"

namespace trnemu {

// Of a complete meeting. `illegal` collective.channel (a channel that a group
// of these devices has not), all_gather_v.system, all_to_all_v.system and
// all_to_all_v.rdispls (where those run: nki/api/nki/collectives/__init__.py),
// all of which can be allowed; and the warning collective_permute.ring
// (neuron-runtime/about/collectives.rst:79). They name a rank and say what is
// supported, but not where the program calls.
std::vector<Diagnostic> RestrictionsOn(const Meeting& meeting,
                                       const Topology& topology);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_RESTRICTIONS_H_
