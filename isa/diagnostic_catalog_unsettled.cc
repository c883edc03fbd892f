// Diagnostics of data on which a result depends that no document settles
// (docs/unspecified.md).
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"integer.through_fp32", kUnspecified,
     "A 32-bit integer above 2^24 goes through fp32 arithmetic, which does not "
     "hold it, into an integer or a comparison: the value changes. The report "
     "has the first one, before and after.",
     "tensor_tensor add of int32 16777217 and 0 on the vector engine",
     "Use tensor_tensor on gpsimd with all operands in SBUF, which is exact, "
     "or a bitwise operation, or smaller integers.",
     Severity::kWarning, true},
    {"integer.overflow", kUnspecified,
     "A 32-bit add, subtract or multiply of gpsimd, or an index of iota or "
     "affine_select, does not fit: no document says what that gives; it wraps "
     "(numerics integer_overflow).",
     "tensor_tensor add of int32 2147483647 and 1 on gpsimd",
     "Mask or scale the operands so that the result fits.", Severity::kWarning,
     true},
    {"cast.overflow", kUnspecified,
     "A finite value is beyond the dtype that it is cast to (of float8_e4m3fn, "
     "which has no infinity, an infinite one, too). No document says what that "
     "gives; numerics float_overflow and e4m3fn_overflow choose. The lowest "
     "fp32, -3.4028235e38, is documented and not reported.",
     "tensor_copy of 1e6 to float16",
     "Clamp to the dtype's range before the cast, or keep a wider dtype.",
     Severity::kWarning, true},
    {"shift.amount", kUnspecified,
     "A shift by the width of the element or more: no document says what that "
     "gives; it is 0 (numerics shift_overflow).",
     "tensor_scalar left_shift of uint8 by 8", "Keep amounts below the width.",
     Severity::kWarning, true},
    {"alu.nan", kUnspecified,
     "maximum or minimum of NaN and a number: no document says which it gives; "
     "the number was taken.",
     "tensor_tensor maximum of NaN and 1.0", "Replace NaN first.",
     Severity::kWarning, true},
    {"iota.inexact", kUnspecified,
     "iota writes an index that its dtype does not hold: two indices become "
     "one.",
     "iota of 0 to 511 into bfloat16, which holds whole numbers up to 256",
     "Write indices as int32 or uint32.", Severity::kWarning, true},
    {"reciprocal.zero", kUnspecified,
     "reciprocal of 0 or of a subnormal: no document says what that gives; it "
     "is IEEE's.",
     "reciprocal of a tile with a 0",
     "Add a small number, or replace zeros first.", Severity::kWarning, true},
    {"tensor_reduce.subtract", kUnspecified,
     "A reduction by subtract: no document says in which order; it is a0 - a1 "
     "- ....",
     "tensor_reduce(op=\"subtract\") of two elements or more",
     "Add all but the first element, and subtract that sum.",
     Severity::kWarning, true},
};

}  // namespace

std::span<const CatalogEntry> UnsettledEntries() { return kEntries; }

}  // namespace trnemu::catalog
