// Diagnostics of systems and of what ranks do together.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"option.system", kInput,
     "No system has this name; or NAME*N is asked for of a system that has no "
     "network, or for an N that is no number or too large.",
     "--system trn2.48xlrge; --system inf2.48xlarge*2",
     "trnemu info --systems lists them; the file of a description does, too."},
    {"option.ranks", kInput,
     "The system has not so many ranks: a rank is one physical core, or two "
     "with lnc 2.",
     "--ranks 65 of trn2.48xlarge with lnc 2, which has 64",
     "Use fewer ranks, lnc 1, a larger system, or NAME*N: N of them joined by "
     "the network."},
    {"option.lnc", kInput,
     "A rank has one or two physical cores, and two on trn2 and trn3 only.",
     "--lnc 2 of trn1.32xlarge", "Use 1; or 2 on trn2 and trn3."},
    {"option.fail_link", kInput,
     "The system has no link of this name, or none between these chips.",
     "--fail-link 0-5 of a 4x4 torus",
     "Write 0-1 for both directions between neighbours, or a link's name, as "
     "trnemu info --system NAME --json lists them."},
    {"link.unreachable", kInput,
     "So many links have failed that no way is left from one chip to another; "
     "the details name them. Chips of a node do not reach each other through "
     "the network.",
     "all four links of chip 0 of trn2.48xlarge",
     "Leave the chip out, or let fewer links fail."},
    {"collective.group", kInput,
     "A replica group is empty, or has a rank twice or one that is not there.",
     "the group [0, 1, 1]", "List every rank of the group once."},
    {"collective.cores", kIllegal,
     "The two cores of a rank come to different collectives of both cores, or "
     "to one with different counts.",
     "all_reduce(..., both_cores=True) on core 0, all_gather(..., "
     "both_cores=True) on core 1",
     "Let both cores call the same collectives, with the same tensors, in the "
     "same order."},
    {"system.file", kInput,
     "The file is no description of a system: the message has the path of what "
     "is unknown, missing, negative, of the wrong unit, or does not fit the "
     "rest.",
     "layout.torus of 3x4 chips where chips_per_node is 16",
     "Start from trnemu info --system NAME --only description."},
};

}  // namespace

std::span<const CatalogEntry> CollectiveEntries() { return kEntries; }

}  // namespace trnemu::catalog
