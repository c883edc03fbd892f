# Diagnostics of tensor. README.md says how this is read.

#% tensor.constant_written
b = trnemu.ProgramBuilder(target="trn2")
table = b.constant("table", np.zeros((4, 8), np.float32))  # fix: table = b.output("table", (4, 8), "float32")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1.0)
b.dma_copy(dst=table, src=t)

#% tensor.data
#! NumPy arrays have the bytes of their shape; for callers from C++.

#% tensor.dtype
b = trnemu.ProgramBuilder(target="trn2")
x = b.constant("w", np.ones((4, 8)))  # fix: x = b.constant("w", np.ones((4, 8), np.float32))

#% tensor.name
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (4, 8), "float32")
z = b.input("x", (4, 8), "float32")  # fix: z = b.input("z", (4, 8), "float32")

#% tensor.shape
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (128, 0), "float32")  # fix: x = b.input("x", (128, 1), "float32")

#% tensor.rank
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (1,) * 300, "float32")  # fix: x = b.input("x", (1,) * 8, "float32")
