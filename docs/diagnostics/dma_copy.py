# Rules of dma_copy. README.md says how this is read.

#% dma_copy.engine
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    dge_mode="none",
    engine="vector",  # fix: leave out
)

#% dma_copy.hwdge_cast
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "int16"),
    src=b.sbuf((4, 1), "int16"),
    dge_mode="hwdge",
)

#% dma_copy.hwdge_generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.dma_copy(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    dge_mode="hwdge",
)

#% dma_copy.hwdge_rows
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.scratch("dst", (7, 1), "float8_e4m3").ap([[1, 4], [1, 1]], vector_offset=b.sbuf((4, 1), "uint32")),
    src=b.sbuf((4, 1), "float8_e4m3"),
    dge_mode="hwdge",  # fix: leave out
)

#% dma_copy.packed_cast
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 1), "float8_e4m3fn_x4"),  # fix: dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
)

#% dma_copy.priority
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    priority=0,  # fix: leave out
)

#% dma_copy.queues
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    queues=0,  # fix: leave out
)

#% dma_copy.rows_index
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 1), "float32"),
    src=b.scratch("src", (7, 1), "float32").ap([[1, 4], [1, 1]], vector_offset=b.sbuf((4, 2), "uint32")),  # fix: src=b.scratch("src", (7, 1), "float32").ap([[1, 4], [1, 1]], vector_offset=b.sbuf((4, 1), "uint32")),
)

#% dma_copy.rows_mode
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.scratch("dst", (7, 1), "float32").ap([[1, 4], [1, 1]], vector_offset=b.sbuf((4, 2), "uint32")),  # fix: dst=b.scratch("dst", (4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    dge_mode="none",
)

#% dma_copy.size
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
    dge_mode="none",
)

#% dma_copy.one_offset
#! access.two_offsets is reported first, when the view is made.

#% dma_copy.rows_in_hbm
#! access.vector_select is reported first, when the view is made.

#% dma_copy.single_index
#! access.indirect_index is reported first, when the view is made.

#% dma_copy.psum
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.scratch("dst", (4, 8), "float32"),
    src=b.psum((4, 8), "float32"),  # fix: src=b.sbuf((4, 8), "float32"),
)

#% dma_copy.trigger
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 8), "float32"),
    src=b.scratch("src", (4, 8), "float32"),
    dge_mode="swdge",
    trigger="vector",  # fix: trigger="gpsimd",
)

#% dma_copy.overlap
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1.0)
b.dma_copy(dst=t[:, 1:], src=t[:, :-1])  # fix: b.dma_copy(dst=b.sbuf((4, 7), "float32"), src=t[:, :-1])
r = trnemu.run(b.build(), {})
