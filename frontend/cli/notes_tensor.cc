// Numeric notes: the tensor engine's, MX formats, transposes.
#include "frontend/cli/notes.h"

namespace trnemu::cli {
namespace {

constexpr Note kNotes[] = {
    {"nc_matmul",
     "fp32: two passes, LO then HI of the stationary tile (12 + 12 bits by "
     "truncation); in a pass the moving tile's lo and hi halves are each "
     "summed in four ascending chains of 32 rows, added in order; one add "
     "into PSUM a pass.",
     "fitted (six public rows digit for digit, trn2)", "numerics.md 5",
     "matmul=silicon|chain|exact"},
    {"nc_matmul",
     "bf16, fp16, fp8, tf32: exact products, the same column structure, one "
     "pass.",
     "assumed", "numerics.md 5", "matmul=silicon|chain|exact"},
    {"nc_matmul nc_matmul_mx",
     "PSUM accumulates in fp32; on trn3 a bf16 PSUM is widened, added to and "
     "cast once.",
     "documented", "nki/guides/architecture/trainium3_arch.rst:139"},
    {"nc_matmul nc_matmul_mx",
     "accumulate=None overwrites an element unless a matmul wrote it last "
     "since the tile's PsumReset.",
     "derived", "decisions.md"},
    {"nc_matmul nc_matmul_mx",
     "accumulate=True onto nothing is an error; onto what another "
     "instruction wrote an error on trn1 and trn2.",
     "documented as undefined", "nki/api/nki/isa/__init__.py:489"},
    {"nc_matmul",
     "double_row: logical row r * K + k lies in physical row k; a chain is "
     "32 physical rows, all r = 0 first.",
     "layout documented, order assumed",
     "nki/guides/architecture/trainium2_arch.rst:76"},
    {"nc_matmul",
     "An infinity in an fp32 matmul meets the other operand's lo half of 0: "
     "NaN. NaN results are 0x7FC00000.",
     "assumed", ""},
    {"nc_matmul nc_transpose",
     "A transpose moves bits from trn2 on; 8-bit types land zero-extended in "
     "16 bits. On trn1 it is a matmul with the identity, where NaN and "
     "infinity spread.",
     "documented", "nki/api/nki/isa/__init__.py:816"},
    {"nc_transpose", "The vector engine moves bits.", "assumed",
     "nki/api/nki/isa/__init__.py:816"},
    {"nc_matmul_mx",
     "Products of elements and both scales are exact; a chain is 32 "
     "partitions, in each the four values of an element; one add into PSUM.",
     "assumed", "numerics.md 15.15", "matmul=silicon|chain|exact"},
    {"nc_matmul_mx",
     "Scale code 255 is NaN, also times 0; a result NaN is 0x7FC00000.",
     "documented, bits assumed", ""},
    {"nc_matmul_mx",
     "fp4 elements are E2M1 numbers, the first in the low bits.", "assumed", "",
     "subnormals=keep|flush"},
    {"nc_matmul_mx quantize_mx",
     "Scales lie in the first four of each 32 rows of their view, in the "
     "quadrant of their data.",
     "documented", "nki/deep-dives/mxfp-matmul.rst:223"},
    {"nc_matmul_mx",
     "71 of the 72 outputs that the vendor's tutorial prints from a trn3 are "
     "the nearest bf16 of its golden.",
     "silicon", "nki/deep-dives/mxfp-matmul.rst"},
    {"quantize_mx",
     "The shared exponent is floor(log2 a) - (Emax - 1), 2^-127 for zeros; "
     "legacy has Emax, and clips elements.",
     "documented", "nki/api/nki/isa/__init__.py:2798",
     "mx_scale=current|legacy"},
    {"quantize_mx",
     "The exponent is clamped to [-127, 127]; elements round to nearest "
     "even.",
     "assumed", "numerics.md 15.14"},
    {"quantize_mx",
     "A group with NaN or infinity: scale 255, elements NaN, a warning "
     "quantize_mx.not_finite.",
     "assumed", "numerics.md 15.14"},
};

}  // namespace

std::span<const Note> NotesOfTensorEngine() { return kNotes; }

}  // namespace trnemu::cli
