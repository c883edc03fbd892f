import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
c = b.sbuf((1, 1), "int32")
b.dma_copy(dst=c, src=b.constant("c", np.array([[3]], np.int32)))
count = b.register_alloc()
b.register_load(dst=count, src=c)
total = b.sbuf((1, 1), "int32")
b.memset(dst=total, value=0)
with b.fori_loop(0, count):                        # as often as the tile says
    b.tensor_scalar(dst=total, data=total, op0="add", operand0=2.0)
b.dma_copy(dst=b.output("y", (1, 1), "int32"), src=total)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[6]])
