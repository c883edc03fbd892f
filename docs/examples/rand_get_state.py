import numpy as np
import trnemu

state = np.arange(1, 13, dtype=np.uint32).reshape(2, 6)

b = trnemu.ProgramBuilder(target="trn2")
t, out = b.sbuf((2, 6), "uint32"), b.sbuf((2, 6), "uint32")
b.dma_copy(dst=t, src=b.constant("state", state))
b.rand_set_state(src_seeds=t)
b.rand_get_state(dst=out)
b.dma_copy(dst=b.output("y", (2, 6), "uint32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], state)
