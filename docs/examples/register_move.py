import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
r, s = b.register_alloc(5), b.register_alloc()
b.register_move(dst=s, src=r)                     # or a number
t = b.sbuf((1, 1), "int32")
b.register_store(dst=t, src=s)
b.dma_copy(dst=b.output("y", (1, 1), "int32"), src=t)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[5]])
