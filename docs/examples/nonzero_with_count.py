import numpy as np
import trnemu

x = np.array([[0, 5, 0, 6]] * 16, np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((16, 5), "int32")
b.memset(dst=out, value=0)
b.nonzero_with_count(dst=out, src=tx)
b.dma_copy(dst=b.output("y", (16, 5), "int32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
# Partition 0: the columns that are not zero, padding, and how many there are.
np.testing.assert_array_equal(outputs["y"][0], [1, 3, -1, -1, 2])
