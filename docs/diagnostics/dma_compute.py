# Diagnostics of dma_compute. README.md says how this is read.

#% dma_compute.psum
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.psum((4, 8), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 8), "float32")],
    reduce_op="add",
)

#% dma_compute.queues
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 8), "float32")],
    reduce_op="add",
    queues=17,  # fix: queues=16,
)

#% dma_compute.reduce_op
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 8), "float32")],
    reduce_op="multiply",  # fix: reduce_op="add",
)

#% dma_compute.scales
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 8), "float32")],
    reduce_op="add",
    scales=[1.0, 2.0],  # fix: scales=[1.0, 1.0],
)

#% dma_compute.scales_count
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 8), "float32")],
    reduce_op="add",
    scales=[1.0],  # fix: scales=[1.0, 1.0],
)

#% dma_compute.size
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 9), "float32")],  # fix: srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 8), "float32")],
    reduce_op="add",
)

#% dma_compute.skip
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (4, 8), "float32")],
    reduce_op="add",
    oob_mode="skip",  # fix: leave out
)

#% dma_compute.rows
b = trnemu.ProgramBuilder(target="trn2")
table = b.inout("table", (9, 8), "float32")
rows = table.vector_select(0, b.sbuf((4, 1), "int32"))
b.dma_compute(
    dst=rows,
    srcs=[rows, b.sbuf((4, 8), "float32")],
    reduce_op="add",
    unique_indices=False,  # fix: unique_indices=True,
)

#% dma_compute.same_tensor
b = trnemu.ProgramBuilder(target="trn2")
table = b.inout("table", (9, 8), "float32")
rows = table.vector_select(0, b.sbuf((4, 1), "int32"))
b.dma_compute(
    dst=rows,
    srcs=[b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")],  # fix: srcs=[rows, b.sbuf((4, 8), "float32")],
    reduce_op="add",
    unique_indices=True,
)

#% dma_compute.static
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(1)
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[b.input("x", (4, 8), "float32"), b.input("z", (9, 4, 8), "float32").select(0, n)],  # fix: srcs=[b.input("x", (4, 8), "float32"), b.input("z", (9, 4, 8), "float32").select(0, 1)],
    reduce_op="add",
)

#% dma_compute.trigger
b = trnemu.ProgramBuilder(target="trn2")
table = b.inout("table", (9, 8), "float32")
rows = table.vector_select(0, b.sbuf((4, 1), "int32"))
b.dma_compute(
    dst=rows,
    srcs=[rows, b.sbuf((4, 8), "float32")],
    reduce_op="add",
    unique_indices=True,
    trigger="sync",  # fix: leave out
)

#% dma_compute.sources
#! argument.count is reported first of 17 sources, argument.missing of none.
