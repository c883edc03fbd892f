// A run of several ranks as Chrome's trace events
// (core/profile/trace_writer.h).
//
// Each rank that is shown has the processes of its profile, and one for its
// collectives: a track a stream, with what waited for the other ranks and what
// ran; a track a collective core, with a slice a move (further ones where moves
// overlap). All links are one process: a track a link, a slice for what each
// move put on it. Arrows lead from a move to the one that waited for it.
#ifndef TRNEMU_COLLECTIVES_TRACE_H_
#define TRNEMU_COLLECTIVES_TRACE_H_

#include <span>
#include <string>
#include <string_view>

#include "collectives/cluster.h"
#include "collectives/topology.h"
#include "core/profile/report.h"

namespace trnemu {

// `result`: of a run with record_links and record_moves. `profiles`, by rank:
// null, or beyond the span's end, is not shown.
std::string ClusterTrace(const Topology& topology, const ClusterResult& result,
                         std::span<const ProfileReport* const> profiles,
                         std::string_view name);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_TRACE_H_
