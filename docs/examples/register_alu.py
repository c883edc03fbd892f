import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
r = b.register_alloc()
b.register_alu(dst=r, op="multiply", a=6, b=7)
t = b.sbuf((1, 1), "int32")
b.register_store(dst=t, src=r)
b.dma_copy(dst=b.output("y", (1, 1), "int32"), src=t)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[42]])
