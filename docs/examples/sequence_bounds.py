import numpy as np
import trnemu

x = np.array([[1, 1, 2, 0]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((1, 2, 4), "float32")
b.sequence_bounds(dst=out, segment_ids=tx)
b.dma_copy(dst=b.output("y", (1, 2, 4), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
# Where the segment of each element starts, and where it ends; 0 is padding (4, -1).
np.testing.assert_array_equal(outputs["y"], [[[0, 0, 2, 4], [2, 2, 3, -1]]])
