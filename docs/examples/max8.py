import numpy as np
import trnemu

x = np.array([[3, 9, 1, 7, 5, 0, 8, 2, 6, 4]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((1, 8), "float32")
b.max8(dst=out, src=tx)
b.dma_copy(dst=b.output("y", (1, 8), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
# The eight largest of each partition, descending.
np.testing.assert_array_equal(outputs["y"], [[9, 8, 7, 6, 5, 4, 3, 2]])
