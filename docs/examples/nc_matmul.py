import numpy as np
import trnemu

x = np.arange(12, dtype=np.float32).reshape(4, 3)
s = np.arange(8, dtype=np.float32).reshape(4, 2)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
ts = b.sbuf(s.shape, s.dtype.name)
b.dma_copy(dst=ts, src=b.constant("s", s))
out = b.sbuf((2, 3), "float32")
sums = b.psum((2, 3), "float32")
b.nc_matmul(dst=sums, stationary=ts, moving=tx)            # overwrites: nothing is there
b.nc_matmul(dst=sums, stationary=ts, moving=tx)            # adds
b.tensor_copy(dst=out, src=sums)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], 2 * (s.T @ x))
