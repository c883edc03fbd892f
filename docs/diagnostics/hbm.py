# Diagnostics of hbm. README.md says how this is read.

#% hbm.capacity
d = trnemu.Device("trn2")
kept = []
for i in range(3):  # fix: for i in range(1):
    c = trnemu.ProgramBuilder(target="trn2")
    x = c.inout("x", (1024, 1024, 1024, 10), "uint8")
    c.dma_copy(dst=x.reshape(2**30 * 10)[0:4].reshape(1, 4), src=c.constant("w", np.zeros((1, 4), np.uint8)))
    kept.append(d.load(c.build()))

#% hbm.reserve
#! Needs a host that refuses to reserve address space.
