// Numeric notes: copies, DMA, gathers, registers, cores.
#include "frontend/cli/notes.h"

namespace trnemu::cli {
namespace {

constexpr Note kNotes[] = {
    {"tensor_copy",
     "Equal dtypes move bits, except on trn1's scalar engine, which goes "
     "through fp32.",
     "documented", "nki/api/nki/isa/__init__.py:396"},
    {"dma_copy dma_compute",
     "Equal dtypes move bits; others go through fp32, so int32 to another "
     "integer dtype is inexact above 2^24. Packed types are never cast.",
     "documented", "numerics.md 10"},
    {"dma_transpose nc_stream_shuffle local_gather nc_n_gather sendrecv",
     "Moves bits.", "documented", "decisions.md"},
    {"dma_compute", "fp32 arithmetic, sources in order, one cast to dst.",
     "assumed", "decisions.md"},
    {"nc_stream_shuffle",
     "Partitions count from each view's first one; a lane outside of src is "
     "refused.",
     "assumed", "nki/api/nki/isa/__init__.py:2065"},
    {"local_gather",
     "idx[k] = index[16 g + k % 16, k // 16], an element offset; outside "
     "src_buffer is refused.",
     "documented", "nki/test/test_nki_isa_local_gather.py:62"},
    {"nc_n_gather", "An index outside data is refused.",
     "documented as undefined", "nki/api/nki/isa/__init__.py:1932"},
    {"register_alloc register_move register_load register_store register_alu "
     "branch",
     "32-bit two's complement; arithmetic wraps.", "assumed", "decisions.md"},
};

}  // namespace

std::span<const Note> NotesOfMoves() { return kNotes; }

}  // namespace trnemu::cli
