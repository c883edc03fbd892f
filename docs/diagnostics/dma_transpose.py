# Diagnostics of dma_transpose. README.md says how this is read.

#% dma_transpose.axes
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
    axes=(0, 1),  # fix: axes=(1, 0),
)

#% dma_transpose.axes_rank
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
    axes=(2, 1, 0),  # fix: axes=(1, 0),
)

#% dma_transpose.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "float16"),  # fix: dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
)

#% dma_transpose.hwdge
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "float32"),  # fix: dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "float32"),  # fix: src=b.input("x", (16, 8), "bfloat16"),
    dge_mode="hwdge",
)

#% dma_transpose.hwdge_2d
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 32), "bfloat16"),  # fix: dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (32, 8), "bfloat16"),  # fix: src=b.input("x", (16, 8), "bfloat16"),
    dge_mode="hwdge",
)

#% dma_transpose.hwdge_3d
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16, 3), "bfloat16"),  # fix: dst=b.sbuf((8, 16, 4), "bfloat16"),
    src=b.input("x", (3, 16, 8), "bfloat16"),  # fix: src=b.input("x", (4, 16, 8), "bfloat16"),
    dge_mode="hwdge",
)

#% dma_transpose.priority
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
    priority=1,
)

#% dma_transpose.psum
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.psum((8, 16), "bfloat16"),  # fix: dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
)

#% dma_transpose.queues
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
    queues=0,  # fix: queues=16,
)

#% dma_transpose.rank
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 4, 4), "bfloat16"),  # fix: dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
)

#% dma_transpose.shape
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((16, 8), "bfloat16"),  # fix: dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
)

#% dma_transpose.skip
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
    oob_mode="skip",  # fix: leave out
)

#% dma_transpose.src_rank
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((2, 2, 2, 2, 2), "bfloat16"),  # fix: dst=b.sbuf((2, 2, 2, 2), "bfloat16"),
    src=b.input("x", (2, 2, 2, 2, 2), "bfloat16"),  # fix: src=b.input("x", (2, 2, 2, 2), "bfloat16"),
)

#% dma_transpose.swdge
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
    dge_mode="swdge",  # fix: leave out
)

#% dma_transpose.trigger
b = trnemu.ProgramBuilder(target="trn2")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (16, 8), "bfloat16"),
    dge_mode="hwdge",
    trigger="gpsimd",  # fix: trigger="sync",
)

#% dma_transpose.rows
b = trnemu.ProgramBuilder(target="trn2")
index = b.sbuf((16, 1), "uint32")
b.dma_transpose(
    dst=b.sbuf((8, 16), "float32"),  # fix: dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (40, 8), "float32").ap([[8, 16], [1, 8]], vector_offset=index),  # fix: src=b.input("x", (40, 8), "bfloat16").ap([[8, 16], [1, 8]], vector_offset=index),
)

#% dma_transpose.rows_4d
b = trnemu.ProgramBuilder(target="trn2")
index = b.sbuf((16, 1), "uint32")
b.dma_transpose(
    dst=b.sbuf((8, 2, 2, 16), "bfloat16"),  # fix: dst=b.sbuf((8, 1, 2, 16), "bfloat16"),
    src=b.input("x", (40, 2, 2, 8), "bfloat16").ap([[32, 16], [16, 2], [8, 2], [1, 8]], vector_offset=index),  # fix: src=b.input("x", (40, 1, 2, 8), "bfloat16").ap([[16, 16], [16, 1], [8, 2], [1, 8]], vector_offset=index),
)

#% dma_transpose.rows_index
b = trnemu.ProgramBuilder(target="trn2")
index = b.sbuf((16, 1), "int32")  # fix: index = b.sbuf((16, 1), "uint32")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (40, 8), "bfloat16").ap([[8, 16], [1, 8]], vector_offset=index),
)

#% dma_transpose.rows_index_shape
b = trnemu.ProgramBuilder(target="trn2")
index = b.sbuf((17, 1), "uint32")  # fix: index = b.sbuf((16, 1), "uint32")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (40, 8), "bfloat16").ap([[8, 16], [1, 8]], vector_offset=index),
)

#% dma_transpose.rows_mode
b = trnemu.ProgramBuilder(target="trn2")
index = b.sbuf((16, 1), "uint32")
b.dma_transpose(
    dst=b.sbuf((8, 16), "bfloat16"),
    src=b.input("x", (40, 8), "bfloat16").ap([[8, 16], [1, 8]], vector_offset=index),
    dge_mode="hwdge",  # fix: dge_mode="swdge",
)
