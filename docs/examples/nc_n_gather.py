import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
i = np.array([[2, 0], [1, 1]], np.uint32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
ti = b.sbuf(i.shape, i.dtype.name)
b.dma_copy(dst=ti, src=b.constant("i", i))
out = b.sbuf((2, 2), "float32")
b.nc_n_gather(dst=out, data=tx, indices=ti)
b.dma_copy(dst=b.output("y", (2, 2), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], np.take_along_axis(x, i.astype(int), axis=1))
