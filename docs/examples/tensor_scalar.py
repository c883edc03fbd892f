import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
c = np.array([[10], [20]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
tc = b.sbuf(c.shape, c.dtype.name)
b.dma_copy(dst=tc, src=b.constant("c", c))
out = b.sbuf((2, 3), "float32")
# One number, then a value for each partition.
b.tensor_scalar(dst=out, data=tx, op0="multiply", operand0=2.0, op1="add", operand1=tc)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], 2 * x + c)
