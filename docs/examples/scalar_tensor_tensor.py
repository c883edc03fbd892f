import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((2, 3), "float32")
b.scalar_tensor_tensor(dst=out, data=tx, op0="subtract", operand0=1.0, op1="multiply", operand1=tx)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], (x - 1) * x)
