import numpy as np
import trnemu

x = np.array([[3, 9, 1, 7, 5, 0, 8, 2, 6, 4]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((1, 8), "uint32")
top = b.sbuf((1, 8), "float32")
b.max8(dst=top, src=tx)
b.nc_find_index8(dst=out, data=tx, vals=top)
b.dma_copy(dst=b.output("y", (1, 8), "uint32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[1, 6, 3, 8, 4, 9, 0, 7]])
