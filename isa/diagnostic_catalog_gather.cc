// Diagnostics of executing gathers, searches by index, and random numbers.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"local_gather.index", kOutOfBounds,
     "An index of local_gather, or the last of the num_elem_per_idx elements "
     "from it on, lies outside src_buffer. Documents leave the result "
     "open.",
     "index 512 into a src_buffer of 512 elements per partition",
     "Clamp the indices; they count elements, not groups of num_elem_per_idx."},
    {"nc_n_gather.index", kOutOfBounds,
     "An index of nc_n_gather lies outside the partition's elements. "
     "Documents leave the result open.",
     "index 8 into data of 8 elements per partition, or -1 (4294967295)",
     "Clamp the indices."},
    {"sequence_bounds.segment_ids", kUnspecified,
     "A segment id is not a whole number of at least 0, and no document says "
     "what that gives.",
     "sequence_bounds of [1, -1]",
     "Number the segments from 1 on; 0 marks padding.", Severity::kError, true},
    {"nonzero_with_count.special_value", kUnspecified,
     "src holds NaN, which was taken as nonzero, or -0.0, which was taken as "
     "zero: documents do not say how they compare.",
     "nonzero_with_count of [-0.0, 1.0]", "Replace NaN and -0.0 before.",
     Severity::kWarning, true},
    {"tensor_partition_reduce.int32", kUnspecified,
     "32-bit integers, or the sum of their magnitudes, reach 2^24: documents "
     "do not say whether they are reduced as integers or in fp32, which was "
     "taken and rounds there.",
     "the maximum of 16777217 over the partitions",
     "Keep 32-bit integers below 2^24, or add rows with tensor_tensor.",
     Severity::kWarning, true},
    {"topk.layout", kUnspecified,
     "Documents contradict each other on where topk puts the K values of 16 "
     "partitions; here each of them receives all, ascending.",
     "any topk",
     "Rely on the set of values, and on the pairs of value and index.",
     Severity::kWarning, true},
    {"topk.order", kUnspecified,
     "The result of topk depends on the order of equal values, of which the "
     "one with the lower index was taken as the larger, or of NaN, which was "
     "taken as less than everything.",
     "topk of two equal values with K = 1", "Make the values distinct.",
     Severity::kWarning, true},
    {"rng.generator", kUnspecified,
     "Random numbers, or a generator's state, that are repeatable but not a "
     "device's: no document gives all that defines its generators. Reported "
     "once a run and operation.",
     "rng, rand2, dropout, or rand_get_state after a draw",
     "Rely on the distribution only, or draw on the host and load the numbers.",
     Severity::kWarning, true},
    {"rand_set_state.zero_state", kUnspecified,
     "The five xorshift words of a generator are all 0: then it only counts, "
     "and no document says what a device does.",
     "rand_set_state of zeros",
     "Let one of the first five words be other than 0.", Severity::kWarning,
     true},
    {"dropout.probability", kUnspecified,
     "prob is outside [0, 1], where no document says what dropout gives; an "
     "element was zeroed if a number in [0, 1) is below prob.",
     "dropout(prob=1.5)", "Clamp prob to [0, 1].", Severity::kWarning, true},
};

}  // namespace

std::span<const CatalogEntry> GatherEntries() { return kEntries; }

}  // namespace trnemu::catalog
