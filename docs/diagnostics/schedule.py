# Diagnostics of --explore. README.md says how this is read.

#% schedule.outputs_differ
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
t, loaded, doubled = b.sbuf((4, 8), "float32"), b.semaphore(), b.semaphore()
b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])
b.tensor_tensor(dst=t, data1=t, data2=t, op="add", wait=[(loaded, 16)], signal=[(doubled, 1)])
b.dma_copy(dst=y, src=t, wait=[(loaded, 16)])  # fix: b.dma_copy(dst=y, src=t, wait=[(doubled, 1)])
x = np.ones((4, 8), np.float32)
# With the default checks the first run already reports race.read_write or race.write_read.
r = trnemu.explore(b.build(), {"x": x}, 50, checks="memory")
