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
    {"option.processes", kInput,
     "mpirun started more processes than the ranks have chips: a process runs "
     "all ranks of a chip, or none.",
     "mpirun -n 4 trnemu run k.trn --system trn2.48xlarge --ranks 8, which are "
     "on two chips",
     "Start a process a chip, or fewer."},
    {"unsupported.mpi", kUnsupported,
     "mpirun started several processes, but this trnemu was built without MPI.",
     "mpirun -n 2 trnemu run k.trn --system trn2.48xlarge",
     "Run it without mpirun: one process runs all ranks, on several threads. "
     "Or "
     "build it with MPI (docs/dependencies.md)."},
    {"option.fail_link", kInput,
     "The system has no link of this name, or none between these chips.",
     "--fail-link 0-5 of a 4x4 torus",
     "Write 0-1 for both directions between neighbours, or a link's name, as "
     "trnemu info --system NAME --json lists them."},
    {"option.collective", kInput,
     "The measurement of a collective is of an operation, a dtype, a memory or "
     "a number of streams that it cannot have.",
     "trnemu collective all_reduec", "trnemu collective --help lists them."},
    {"option.group", kInput,
     "The groups of a measurement are not of one length, have a rank twice or "
     "one that is not there; or the ranks cannot be divided into such groups.",
     "--group-size 3 of 8 ranks", "Groups of one length: --group 0,1;2,3"},
    {"link.unreachable", kInput,
     "So many links have failed that no way is left from one chip to another; "
     "the details name them. Chips of a node do not reach each other through "
     "the network.",
     "all four links of chip 0 of trn2.48xlarge",
     "Leave the chip out, or let fewer links fail."},
    {"collective.group", kInput,
     "A replica group is empty, or has a rank twice or one that is not there.",
     "the group [0, 1, 1]", "List every rank of the group once."},
    {"collective.no_system", kInput,
     "A collective, or an operation that asks for the rank's number, was "
     "executed by a run of one program alone: there are no other ranks.",
     "trnemu.run of a program with all_reduce",
     "Run it on a system: trnemu.System(\"trn2.48xlarge\", ranks=4).run("
     "program, inputs)."},
    {"collective.not_in_group", kIllegal,
     "A rank executes a collective whose replica group does not have it in any "
     "of its lists. (A collective_permute is different: ranks that no pair "
     "names take no part.)",
     "all_reduce with replica_group [[0, 1]] in a program that rank 2 runs, "
     "too",
     "Give every rank that executes it a list, alone if need be: [[0, 1], "
     "[2]]; or run another program there."},
    {"collective.rank", kIllegal,
     "A collective names a rank that the system has not, or that no system "
     "can have (ranks are 0 to 65535), or a rank sends to itself.",
     "replica_group [[0, 1, 2, 4]] on a system of four ranks, which are 0 to 3",
     "Name ranks below the number of ranks, or run with more of them."},
    {"collective.overlap", kIllegal,
     "src and dst share memory in a way in which the result would depend on "
     "the order of the algorithm's writes. Allowed are: the same elements "
     "(all_reduce, broadcast), src as the rank's own block of dst "
     "(all_gather), dst as its own block of src (reduce_scatter).",
     "all_reduce of rows 0 to 3 of a tensor into its rows 1 to 4",
     "Use the same tensor for both, or one that shares nothing with it."},
    {"collective.mismatch", kIllegal,
     "Ranks that meet in a collective do not agree on it: the operation, op, "
     "dtype, sizes, collective_dim, root, channel or pairs differ. The k-th "
     "collective that a rank calls for a group and stream meets the k-th of "
     "every other rank of the group. On hardware such ranks hang or mix up "
     "data.",
     "all_reduce of 32 elements on rank 0 and of 64 on rank 1",
     "Let all ranks of a group call the same collectives in the same order."},
    {"collective.deadlock", kDeadlock,
     "Nothing can proceed: a rank has triggered a collective and another one "
     "of its group never comes to it, because its program ends before, it "
     "waits in a collective of other ranks or of another stream, or for a "
     "semaphore; or ranks call the collectives of a stream in different "
     "orders. The report says where each of them is.",
     "a program with all_reduce on rank 0 and one without on rank 1",
     "Let every rank of the group come to the collective, as often and in the "
     "same order as the others."},
    {"collective.counts", kOutOfBounds,
     "The counts or displacements in a metadata_tensor go beyond a tensor: a "
     "rank is to send elements that its source has not, or more than the "
     "receiver's slot or destination has room for.",
     "all_to_all_v with a count of 9 where dst has slots of 8 elements",
     "Correct the counts, or make the tensor larger; without has_rdispls each "
     "sender has numel(dst) / ranks elements of dst."},
    {"collective.algorithm", kIllegal,
     "The algorithm that was asked for cannot do this operation for this "
     "group; the message says why and which can.",
     "algorithm=\"rdh\" for a group on three chips, which are no power of two",
     "Use algorithm=\"auto\", or one that the message names."},
    {"collective.channel", kIllegal,
     "A channel of an implicit permute that its replica group has not: groups "
     "of all devices of a node have 4 channels, others 2.",
     "channel_ids=[0, 1, 2] for a group of 4 of the 16 devices of "
     "trn2.48xlarge",
     "Use fewer channels.", Severity::kError, true},
    {"all_gather_v.system", kIllegal,
     "all_gather_v is documented for lnc 2 and groups of the 4 ranks of one "
     "device.",
     "all_gather_v of ranks [0, 1, 4, 5], which are on two devices",
     "Use the 4 ranks of a device, or all_gather with padding.",
     Severity::kError, true},
    {"all_to_all_v.system", kIllegal,
     "all_to_all_v is documented, where switches join the devices, for lnc 2 "
     "and groups of all ranks of several devices, in order; elsewhere for "
     "groups of the ranks at the same place of several nodes.",
     "all_to_all_v of ranks [0, 1] of trn2.48xlarge, which are of one node",
     "Use all_to_all with padding, or a group that is supported; a rank that "
     "takes no part can have counts of 0.",
     Severity::kError, true},
    {"all_to_all_v.rdispls", kIllegal,
     "has_rdispls is documented where switches join the devices.",
     "all_to_all_v with has_rdispls between the nodes of trn2.48xlarge*2",
     "Leave it out: the block of sender r then comes to slot r of dst.",
     Severity::kError, true},
    {"collective_permute.ring", kUnspecified,
     "Documents disagree on which pairs a collective_permute takes: NKI's "
     "page has arbitrary ones, the runtime's only rings of directly connected "
     "ranks. These are no such ring; they are carried out as given.",
     "source_target_pairs [[0, 1]] alone: rank 1 receives and does not send",
     "Let the pairs go round, as [[0, 1], [1, 0]], among ranks of one device "
     "or of neighbours.",
     Severity::kWarning, true},
    {"malformed.collective", kMalformed,
     "A collective of several tensors is a row of instructions, one for each; "
     "a branch of the program file leads into the row or out of it, so that "
     "the collective is given some of them only.",
     "a branch whose target is the second instruction of an all_reduce of two "
     "tensors",
     "Let branches go to the first instruction of an operation."},
    {"internal.collective", kInternal,
     "A bug in trnemu: a collective reached an engine that computes.",
     "never, in a released version", "Please report it, with the program."},
    {"internal.collective_shape", kInternal,
     "A bug in trnemu: a group's shape that no algorithm takes.",
     "never, in a released version",
     "Please report it, with the program and the system."},
    {"internal.collective_problem", kInternal,
     "A bug in trnemu: a collective whose parts do not fit together reached "
     "its algorithm.",
     "never, in a released version",
     "Please report it, with the program and the system."},
    {"option.target", kInput,
     "A program is for another generation than the chips of the system that "
     "is to run it.",
     "a program for trn2 on trn1.32xlarge",
     "Build it for the system's target, or choose a system of the program's "
     "generation."},
    {"unsupported.system_schedule", kUnsupported,
     "Ranks of a system meet in simulated time, so they run in timed order "
     "only: no program order, random orders or launch_overhead.",
     "trnemu.System(...).run(program, inputs, schedule=\"program\")",
     "Leave the schedule out; explore a rank's program alone where it has no "
     "collectives."},
    {"unsupported.system_option", kUnsupported,
     "Logs, stop_at_nan and debuggers look at one rank's run; a run of several "
     "ranks has none.",
     "stop_at_nan in a run of several ranks",
     "Leave it out; profiles and links can be recorded of all ranks."},
    {"internal.collective_check", kInternal,
     "A collective that trnemu measured with --check gave another result than "
     "the same sums in double precision allow.",
     "none is known", "Report it, with the command."},
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
