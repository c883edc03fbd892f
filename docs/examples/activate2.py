import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)

b = trnemu.ProgramBuilder(target="trn3")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((2, 3), "float32")
# square((x * 2) + 1)
b.activate2(dst=out, op="square", data=tx, imm0=2.0, op0="multiply", imm1=1.0, op1="add")
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], (2 * x + 1) ** 2)
