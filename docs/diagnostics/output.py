# Diagnostics of output. README.md says how this is read.

#% output.unwritten
b = trnemu.ProgramBuilder(target="trn2")
t, y = b.sbuf((4, 8), "float32"), b.output("y", (4, 8), "float32")
b.memset(dst=t, value=1.0)
b.dma_copy(dst=y[:, 0:7], src=t[:, 0:7])  # fix: b.dma_copy(dst=y, src=t)
r = trnemu.run(b.build(), {})
