// Diagnostics of indirect views and of DMA and engines that follow them.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"access.dynamic_out_of_bounds", kOutOfBounds,
     "An index that the run read is negative, or too large for what it "
     "indexes. Nothing was moved.",
     "a gather from 3 rows whose index tile holds 2147483647",
     "Check the indices; a DMA with oob_mode=\"skip\" leaves out the rows "
     "that have none."},
    {"access.indirect", kIllegal,
     "indirect() takes elements of a tile in SBUF or PSUM.",
     "x.indirect(idx) of an HBM tensor", "Use vector_select and a DMA."},
    {"access.indirect_again", kIllegal,
     "A view whose place only a run knows is indexed, reshaped or "
     "reinterpreted in a way that its indices do not survive.",
     "x.select(0, r).select(0, q)", "Do all that is static first."},
    {"access.indirect_base", kIllegal,
     "A dynamic offset of an access pattern counts along a dimension of the "
     "whole tensor, but the view is a part of it.",
     "x[1:].ap(..., scalar_offset=r)", "Call ap on the tensor."},
    {"access.indirect_dim", kIllegal,
     "The dimension that is indexed cannot be used that way.",
     "x.vector_select(0, idx)[0]", "Narrow the index tile instead."},
    {"access.indirect_dtype", kUnsupported,
     "An access pattern changes the width of elements and has a dynamic "
     "offset; no document says which elements that counts.",
     "float32.ap(..., dtype=\"bfloat16\", scalar_offset=r)",
     "Reinterpret with view(dtype) first."},
    {"access.indirect_index", kIllegal,
     "An index must be a register or a static view in SBUF of 16- or 32-bit "
     "integers, of as many elements as it is asked for.",
     "vector_offset= a view in HBM", "Load the indices into an SBUF tile."},
    {"access.indirect_operand", kIllegal,
     "An indirect view is used where only a static one can be.",
     "an index tile that is indirect itself", "Copy what it shows to a tile."},
    {"access.indirect_partition", kIllegal,
     "An index that only a run knows cannot select partitions.",
     "t.select(0, r)", "Index a free dimension, or move the data by DMA."},
    {"access.no_offset", kIllegal,
     "indirect_dim is given without a dynamic offset, where it has no effect.",
     "x.ap(..., indirect_dim=1)", "Leave it out."},
    {"access.two_offsets", kIllegal,
     "An access pattern has a scalar_offset and a vector_offset.",
     "x.ap(..., scalar_offset=r, vector_offset=idx)", "Use one of them."},
    {"access.vector_select", kIllegal,
     "Only rows of dimension 0 of a tensor in HBM can have an index each.",
     "t.vector_select(0, idx) of a tile",
     "Use indirect() on chip, or gather from HBM."},
    {"dma.duplicate_rows", kUnspecified,
     "A scatter writes a row twice: which one stays depends on the order of "
     "its descriptors.",
     "indices [0, 2, 2]", "Use every index once.", Severity::kWarning, true},
    {"dma.duplicate_elements", kUnspecified,
     "The dst of a transfer names an element more than once: which value stays "
     "depends on the order of its parts.",
     "dma_copy(dst=x[0:1].broadcast(0, 8), src=y)",
     "Write every element once; to repeat, broadcast src.", Severity::kWarning,
     true},
    {"access.duplicate_elements", kUnspecified,
     "A view made by indirect() writes an element twice: no document says "
     "which one stays.",
     "offsets [0, 2, 2]", "Use every offset once.", Severity::kWarning, true},
    {"malformed.indirection", kMalformed,
     "A dynamic offset does not fit its operand: its index, its dimensions or "
     "its numbers.",
     "rows of a tile on chip", "Build with the methods of a view."},
};

}  // namespace

std::span<const CatalogEntry> IndirectEntries() { return kEntries; }

}  // namespace trnemu::catalog
