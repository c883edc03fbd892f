import numpy as np
import trnemu

x = np.array([[0.5, 1.5, 300]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((1, 3), "int8")
b.tensor_copy(dst=out, src=tx)
b.dma_copy(dst=b.output("y", (1, 3), "int8"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
# The cast rounds to nearest even and saturates.
np.testing.assert_array_equal(outputs["y"], [[0, 2, 127]])
