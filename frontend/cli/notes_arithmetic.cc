// Numeric notes: what engines and casts have in common.
#include "frontend/cli/notes.h"

namespace trnemu::cli {
namespace {

constexpr std::string_view kArithmetic =
    "activation activation_reduce activate2 tensor_reduce "
    "tensor_partition_reduce tensor_tensor tensor_tensor_scan "
    "scalar_tensor_tensor tensor_scalar tensor_scalar_reduce "
    "tensor_scalar_cumulative exponential reciprocal affine_select "
    "select_reduce range_select bn_stats bn_aggr iota memset tensor_copy";
constexpr std::string_view kCasts =
    "activation activation_reduce activate2 tensor_reduce "
    "tensor_partition_reduce tensor_tensor tensor_tensor_scan "
    "scalar_tensor_tensor tensor_scalar tensor_scalar_reduce "
    "tensor_scalar_cumulative exponential reciprocal affine_select "
    "select_reduce range_select bn_stats bn_aggr iota memset tensor_copy "
    "dma_copy dma_compute";
constexpr std::string_view kAlu =
    "tensor_tensor tensor_scalar scalar_tensor_tensor tensor_reduce "
    "tensor_scalar_reduce tensor_scalar_cumulative tensor_tensor_scan";
constexpr std::string_view kActivations =
    "activation activation_reduce activate2";

constexpr Note kNotes[] = {
    {kArithmetic,
     "Every dtype is read as fp32 and the result is cast once to the "
     "destination, unless the operation only moves bits.",
     "documented", "numerics.md 4"},
    {kCasts,
     "fp32 to integer: nearest even, then saturate; NaN gives 0 and a "
     "warning cast.nan_to_integer.",
     "documented, NaN assumed", "numerics.md 3"},
    {kCasts,
     "fp32 to a float: nearest even; overflow gives infinity; above 464 "
     "float8_e4m3fn gives NaN.",
     "assumed", "numerics.md 3", "e4m3fn_overflow=nan|saturate"},
    {kCasts,
     "tfloat32 is rounded to 10 bits of fraction when read and when written.",
     "assumed (documents differ)", "numerics.md 3", "tf32=rne|truncate"},
    {kCasts, "Subnormal numbers are kept.", "assumed", "docs/numerics.md",
     "subnormals=keep|flush"},
    {kAlu, "Each of the operations rounds to fp32; two operations round twice.",
     "assumed", "numerics.md 15.6"},
    {kAlu,
     "maximum, minimum: the operand that is not NaN; a tie (also +0, -0) "
     "gives the second. Comparisons are IEEE's; logical operations take "
     "nonzero (NaN too) as true.",
     "assumed", "numerics.md 15.5"},
    {kAlu,
     "abs_max, abs_min keep the sign of the winner; a tie gives the second.",
     "documented", "numerics.md 4"},
    {kAlu, "Shifts are logical; an amount of the width or more gives 0.",
     "logical documented, else assumed", "isa.json, undefined_behaviour"},
    {"tensor_tensor tensor_scalar scalar_tensor_tensor",
     "power is within 1 ulp with IEEE's special cases; rsqrt and reciprocal "
     "are correctly rounded.",
     "assumed", ""},
    {"tensor_tensor tensor_scalar tensor_reduce tensor_scalar_reduce "
     "tensor_copy",
     "int32 and uint32 go through fp32 on the vector and the scalar engine: "
     "inexact above 2^24.",
     "documented", "nki/api/nki/isa/__init__.py:1035"},
    {kActivations,
     "A function is within 1 ulp of the true one; exp(0) is 1, exp(-inf) is "
     "0. Silicon's tables are of the 1e-5 class and unpublished.",
     "assumed", "docs/activation-accuracy.md"},
    {kActivations,
     "sin has no range reduction: outside [-pi, pi] it is the cubic about "
     "pi. Other functions give the true value outside their documented "
     "range, and a warning activation.outside_valid_range.",
     "documented for sin, else assumed", "nki/api/nki/isa/__init__.py:1336"},
    {"activation activation_reduce", "data * scale + bias rounds twice.",
     "assumed", "numerics.md 15.6", "scale_bias=separate|fused"},
    {"activation activation_reduce",
     "prelu has slope 0: only activate2 has the slope.", "inferred",
     "nki/api/nki/isa/__init__.py:1618"},
    {"activation activation_reduce",
     "The accumulator adds the new sum once; the sum is of the values before "
     "the cast, from 0, in access order.",
     "assumed (the printed code counts twice)", "decisions.md"},
    {"activation activate2",
     "reduce_cmd=idle, the default, leaves the accumulators alone.",
     "documented", "nki/api/nki/isa/__init__.py:1355"},
    {"activation_reduce",
     "Another reduction than add is refused on every generation (documents: "
     "trn1 only).",
     "inferred", "nki/api/nki/isa/__init__.py:1348"},
    {"activate2",
     "Each operation rounds; scale_bias=fused fuses multiply with add or "
     "subtract.",
     "assumed", "numerics.md 15.6", "scale_bias=separate|fused"},
    {"activate2",
     "The accumulator chains: accumulator += each value before its cast.",
     "printed code documented, before the cast assumed",
     "nki/api/nki/isa/__init__.py:1705"},
    {"activate2",
     "Resets: 0 for add, subtract and abs_max, 1 for multiply, -inf for "
     "maximum, +inf for minimum and abs_min.",
     "documented, abs_max and abs_min assumed",
     "nki/api/nki/isa/__init__.py:1264"},
    {"activate2",
     "relu_param is the slope of prelu; other functions do not read it.",
     "inferred", "nki/api/nki/isa/__init__.py:1618"},
};

}  // namespace

std::span<const Note> NotesOfArithmetic() { return kNotes; }

}  // namespace trnemu::cli
