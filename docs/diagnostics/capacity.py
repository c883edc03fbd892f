# Diagnostics of capacity. README.md says how this is read.

#% capacity.hbm
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (1024, 1024, 1024, 256), "float32")  # fix: x = b.input("x", (1024, 1024, 256), "float32")
b.dma_copy(dst=b.output("y", (1, 4), "float32"), src=x.reshape(2**38)[0:4].reshape(1, 4))  # fix: b.dma_copy(dst=b.output("y", (1, 4), "float32"), src=x.reshape(2**28)[0:4].reshape(1, 4))

#% capacity.psum
b = trnemu.ProgramBuilder(target="trn2")
b.memset(dst=b.psum((128, 2048), "float32", address=(0, 12288)), value=0.0)  # fix: b.memset(dst=b.psum((128, 1024), "float32", address=(0, 12288)), value=0.0)

#% capacity.sbuf
b = trnemu.ProgramBuilder(target="trn2")
b.memset(dst=b.sbuf((128, 8), "float32", address=(0, 400000)), value=0.0)  # fix: b.memset(dst=b.sbuf((128, 8), "float32", address=(0, 100000)), value=0.0)
