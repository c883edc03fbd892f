# Diagnostics of dma. README.md says how this is read.

#% dma.duplicate_rows
b = trnemu.ProgramBuilder(target="trn2")
index, t = b.sbuf((3, 1), "int32"), b.sbuf((3, 8), "float32")
b.dma_copy(dst=index, src=b.constant("rows", np.array([[0], [2], [2]], np.int32)))  # fix: b.dma_copy(dst=index, src=b.constant("rows", np.array([[0], [2], [1]], np.int32)))
b.memset(dst=t, value=1.0)
b.dma_copy(dst=b.scratch("table", (3, 8), "float32").vector_select(0, index), src=t)
r = trnemu.run(b.build(), {})

#% dma.duplicate_elements
b = trnemu.ProgramBuilder(target="trn2")
t, x = b.sbuf((8, 24), "float32"), b.scratch("x", (8, 24), "float32")
b.memset(dst=t, value=1.0)
b.dma_copy(dst=x[0:1].broadcast(0, 8), src=t)  # fix: b.dma_copy(dst=x, src=t)
r = trnemu.run(b.build(), {})
