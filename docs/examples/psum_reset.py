import numpy as np
import trnemu

data = np.ones((4, 3), np.float32)

b = trnemu.ProgramBuilder(target="trn2")
t, out = b.sbuf((4, 3), "float32"), b.sbuf((3, 3), "float32")
b.dma_copy(dst=t, src=b.constant("x", data))
sums = b.psum((3, 3), "float32")
b.nc_matmul(dst=sums, stationary=t, moving=t)
b.psum_reset(dst=sums)                             # the next matmul overwrites again
b.nc_matmul(dst=sums, stationary=t, moving=t)
b.tensor_copy(dst=out, src=sums)
b.dma_copy(dst=b.output("y", (3, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], data.T @ data)
