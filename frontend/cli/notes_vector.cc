// Numeric notes: reductions, scans, selects, searches, statistics, random
// numbers.
#include "frontend/cli/notes.h"

namespace trnemu::cli {
namespace {

constexpr Note kNotes[] = {
    {"tensor_reduce",
     "One element after the other in access order; subtract is a0 - a1 - "
     "....",
     "silicon for add (4 of 4 shapes), else assumed", "numerics.md 8"},
    {"tensor_scalar_reduce exponential range_select select_reduce",
     "The accumulator is acc op value, one element after the other in access "
     "order, of values before the cast.",
     "assumed", "numerics.md 8, 15.8"},
    {"tensor_scalar_reduce exponential range_select select_reduce "
     "tensor_scalar_cumulative",
     "Resets: 0 for add and subtract, 1 for multiply, -inf for maximum, +inf "
     "for minimum.",
     "documented", "nki/api/nki/isa/__init__.py:1264"},
    {"exponential range_select select_reduce",
     "reduce_cmd=idle leaves the accumulators unknown in every lane; to read "
     "them then is uninitialized.",
     "documented", "nki/api/nki/isa/__init__.py:2357"},
    {"tensor_scalar_reduce",
     "reduce_res_negate multiplies what is read by -1, not the accumulator.",
     "documented", "nki/api/nki/isa/__init__.py:2598"},
    {"tensor_scalar_cumulative",
     "acc = (src op0 imm0) op1 acc: subtract is the new value minus the "
     "accumulator. The last result stays in the accumulator, in fp32.",
     "documented, fp32 assumed", "nki/api/nki/isa/__init__.py:1280"},
    {"tensor_tensor_scan",
     "The state stays fp32 between elements; it goes over all free "
     "dimensions in access order.",
     "assumed", "decisions.md, scan carry"},
    {"exponential", "The difference is rounded to fp32, then exp within 1 ulp.",
     "assumed", "numerics.md 15.16"},
    {"reciprocal", "Correctly rounded.", "assumed", ""},
    {"tensor_tensor",
     "gpsimd computes int32 and uint32 tiles exactly, modulo 2^32; power "
     "goes through fp32.",
     "exact documented, wrap assumed", "nki/api/nki/isa/__init__.py:1035"},
    {"tensor_scalar",
     "gpsimd computes in fp32, integers too: its operands are fp32.",
     "documented", "nki/api/nki/isa/__init__.py:1114"},
    {"iota affine_select",
     "The index is an int32 that wraps; the partition counts from the tile's "
     "first.",
     "wrap assumed", ""},
    {"iota", "Into uint32: the int32's bits.", "assumed", ""},
    {"affine_select",
     "less, less_equal are ~value >= 0 and -value >= 0, since the device "
     "lacks them: less_equal is wrong for -2^31 alone.",
     "inferred", "docs/numerics.md"},
    {"memset", "A value that an integer tile cannot hold is refused.",
     "documented", "docs/numerics.md, Casts"},
    {"range_select",
     "The index is float32(range_start + i) along the flattened free "
     "dimensions; beyond 2^24 it is refused.",
     "documented, flattening assumed", "nki/api/nki/isa/__init__.py:2869"},
    {"range_select", "NaN in a bound selects nothing.", "assumed",
     "numerics.md 15.5"},
    {"select_reduce",
     "Values go through fp32 even where dtypes are equal; a predicate is "
     "true where it is not zero.",
     "assumed", "isa.json, notes"},
    {"tensor_copy_predicated",
     "A tile is moved as bits, a number is cast once from fp32; what is not "
     "copied keeps its bytes. A predicate is true where it is not zero.",
     "assumed, unmodified documented", "nki/api/nki/isa/__init__.py:446"},
    {"bn_stats",
     "fp32; sums in access order; mean = sum / count; M2 is summed in a "
     "second pass. Even and odd count along the flattened free dimensions.",
     "fp32 documented, algorithm assumed", "nki/api/nki/isa/__init__.py:1968"},
    {"bn_stats",
     "Of one element the odd mean and M2 are 0, and a warning "
     "bn_stats.no_odd_elements.",
     "assumed", "numerics.md 15.18"},
    {"bn_aggr",
     "mean = (sum c m) / C; variance = (sum v + sum c (m - mean)^2) / C; "
     "each operation rounds to fp32. No counts: NaN and a warning.",
     "assumed", "isa.json, semantics"},
    {"max8",
     "Equal elements are listed in their order; NaN is less than every "
     "number, and a warning max8.nan.",
     "assumed", "nki/api/nki/isa/__init__.py:2415"},
    {"nc_find_index8 nc_match_replace8",
     "IEEE's equality: +0 is -0, NaN equals nothing and gives a warning "
     "match_values.nan.",
     "assumed", "isa.json, notes"},
    {"nc_find_index8",
     "Not there gives all ones; a value that vals repeats takes its next "
     "occurrence.",
     "documented", "release-notes/components/nki.rst:75"},
    {"nc_match_replace8",
     "Columns 7 to 0, each takes the first element that none has taken; a "
     "replaced element does not match again.",
     "documented, the latter assumed", "nki/api/nki/isa/__init__.py:3199"},
    {"nc_match_replace8", "Elements that stay go through fp32 as well.",
     "assumed", "isa.json, semantics"},
    {"tensor_partition_reduce",
     "From the first partition to the last, integers too through fp32; "
     "average divides the sum by the count.",
     "assumed", "nki/api/nki/isa/__init__.py:1246"},
    {"nonzero_with_count",
     "NaN is nonzero, -0.0 is zero, and a warning for either; index plus "
     "index_offset wraps modulo 2^32.",
     "assumed", "nki/api/nki/isa/__init__.py:3228"},
    {"topk",
     "Of equal values (+0 and -0 too) the lower index is the larger; NaN is "
     "below everything; a warning where the result depends on it.",
     "assumed", "nki/library/api/gpsimd-topk.rst:46"},
    {"topk",
     "Every partition of a group receives the same values and indices, "
     "ascending; a warning topk.layout once a run.",
     "assumed (documents differ)", "nki/api/nki/isa/__init__.py:3324"},
    {"sequence_bounds",
     "Ends are exclusive; 0 (-0.0 too) is padding: start n, end -1; int32 "
     "ids are compared exactly.",
     "documented, exactness assumed",
     "nki/test/test_nki_isa_sequence_bounds.py:24"},
    {"rng rand2 dropout set_rng_seed rand_get_state rand_set_state",
     "A generator is repeatable, but not a device's: the warning "
     "rng.generator says so once a run.",
     "assumed", "docs/numerics.md"},
    {"rng dropout rand_get_state rand_set_state set_rng_seed",
     "The vector engine before trn3 is an LFSR (here a xorshift per lane); "
     "on trn3 four XORWOW streams a lane; gpsimd has one XORWOW stream.",
     "kinds documented, constants assumed",
     "nki/guides/architecture/trainium3_arch.rst:206"},
    {"rng", "The low bits of a draw are kept, as many as the dtype has.",
     "documented", "nki/api/nki/isa/__init__.py:2092"},
    {"rand2",
     "u = float32(r) * 2^-32, min + u * (max - min), each step rounded to "
     "fp32.",
     "range documented, the rest assumed", "nki/api/nki/isa/__init__.py:2242"},
    {"dropout",
     "u = float32(r >> 8) * 2^-24; 0 if u < prob, else the element's bits; "
     "no rescaling.",
     "ends 0 and 1 documented, the rest assumed",
     "nki/api/nki/isa/__init__.py:2123"},
};

}  // namespace

std::span<const Note> NotesOfVectorEngine() { return kNotes; }

}  // namespace trnemu::cli
