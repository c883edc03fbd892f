import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
c = np.array([[-5], [-9]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
tc = b.sbuf(c.shape, c.dtype.name)
b.dma_copy(dst=tc, src=b.constant("c", c))
out = b.sbuf((2, 3), "float32")
# bias is a tile: on trn1 it cannot be a number.
b.activation(dst=out, op="relu", data=tx, scale=2.0, bias=tc)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], np.maximum(2 * x + c, 0))
