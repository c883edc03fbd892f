import numpy as np
import trnemu

state = np.arange(1, 13, dtype=np.uint32).reshape(2, 6)

b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((2, 6), "uint32")
b.dma_copy(dst=t, src=b.constant("state", state))
for name in ("first", "again"):
    b.rand_set_state(src_seeds=t)
    out = b.sbuf((2, 8), "uint32")
    b.rng(dst=out, engine="gpsimd")
    b.dma_copy(dst=b.output(name, (2, 8), "uint32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["first"], outputs["again"])
