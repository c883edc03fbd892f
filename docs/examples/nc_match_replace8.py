import numpy as np
import trnemu

x = np.array([[3, 9, 1, 7, 5, 0, 8, 2, 6, 4]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((1, 10), "float32")
top = b.sbuf((1, 8), "float32")
b.max8(dst=top, src=tx)
# What is not among the eight largest stays.
b.nc_match_replace8(dst=out, data=tx, vals=top, imm=-1.0)
b.dma_copy(dst=b.output("y", (1, 10), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[-1, -1, 1, -1, -1, 0, -1, -1, -1, -1]])
