# Diagnostics of synchronise. README.md says how this is read.

#% synchronise.semaphores
b = trnemu.ProgramBuilder(target="trn2")
own = [b.semaphore() for _ in range(256)]  # fix: own = [b.semaphore() for _ in range(100)]
t = b.sbuf((4, 8), "float32")
b.dma_copy(dst=t, src=b.input("x", (4, 8), "float32"))
b.activation(dst=t, op="exp", data=t)
b.dma_copy(dst=b.output("y", (4, 8), "float32"), src=t)
