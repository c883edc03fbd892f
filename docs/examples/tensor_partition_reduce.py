import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((1, 3), "float32")
b.tensor_partition_reduce(dst=out, op="add", data=tx)
b.dma_copy(dst=b.output("y", (1, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[5, 7, 9]])
