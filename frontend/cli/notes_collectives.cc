// Numeric notes: collectives.
#include "frontend/cli/notes.h"

namespace trnemu::cli {
namespace {

constexpr Note kNotes[] = {
    {"all_reduce reduce_scatter collective_permute_implicit_reduce",
     "fp32, in the order in which the algorithm's steps add "
     "(docs/collectives.md), rounded to the tensors' dtype where a step "
     "writes.",
     "assumed", "neuron-runtime/explore/intranode-collective-comm.rst"},
    {"all_reduce reduce_scatter collective_permute_implicit_reduce",
     "Integers go through fp32; where that can be inexact the operation is "
     "refused (collective.integer).",
     "inferred", "decisions.md"},
    {"all_gather all_to_all collective_permute collective_permute_implicit "
     "all_gather_v all_to_all_v broadcast send recv",
     "Moves bits.", "documented", "neuron-runtime/about/collectives.rst:31"},
    {"all_gather_v all_to_all_v",
     "Counts and displacements are in elements, read when the collective is "
     "triggered; bytes of dst outside the blocks stay as they are.",
     "documented", "nki/api/nki/collectives/__init__.py:60"},
    {"rank_id collective_permute_implicit_current_processing_rank_id",
     "A whole number of 32 bits.", "documented",
     "nki/api/nki/collectives/__init__.py:357"},
};

}  // namespace

std::span<const Note> NotesOfCollectives() { return kNotes; }

}  // namespace trnemu::cli
