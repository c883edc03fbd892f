// Which algorithm a collective takes, and its plan.
#ifndef TRNEMU_COLLECTIVES_CHOOSE_H_
#define TRNEMU_COLLECTIVES_CHOOSE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "collectives/plan.h"
#include "collectives/problem.h"

namespace trnemu {

// What the automatic choice goes by, bytes. The size compared is the documented
// buffer: of an all_reduce the buffer, of an all_gather its output, of a
// reduce_scatter its input (docs/collectives.md).
struct Ranges {
  // Mesh up to and with, then recursive doubling and halving up to and with,
  // then KangaRing; -1: no such range. Documented: 1 MB and 56 MB.
  double mesh_up_to = 1e6, rdh_up_to = 56e6;
  // What a member sends in the time of one hop: as much more may a single-step
  // all_reduce send to save one. Inside nodes 1 us (documented, the lower
  // bound) at an assumed 100 B/ns; between them 15 us at 50 Gbit/s
  // (documented).
  double hop_bytes = 100e3, network_hop_bytes = 93750;
  // One ring through all nodes from this size on; -1: never (documented: only
  // on trn1, for large sizes).
  double flat_ring_from = -1;
};

// The algorithm of a collective for which none is forced. Never kAuto.
Algorithm Choose(const Problem& problem, const GroupShape& shape,
                 const Ranges& ranges = {});

// Whether an operation on such a group can have the algorithm; `illegal`
// (collective.algorithm) that says why not, and which it can have.
absl::Status CheckAlgorithm(const Problem& problem, const GroupShape& shape,
                            Algorithm algorithm);

// The plan; kAuto: of the algorithm that Choose gives. `illegal`
// (collective.algorithm) as CheckAlgorithm; `internal`
// (internal.collective_shape, internal.collective_problem) if the group's shape
// or the problem is inconsistent.
absl::StatusOr<Plan> MakePlan(const Problem& problem, const GroupShape& shape,
                              Algorithm algorithm = Algorithm::kAuto,
                              const Ranges& ranges = {});

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_CHOOSE_H_
