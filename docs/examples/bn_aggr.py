import numpy as np
import trnemu

x = np.array([[1, 2, 3, 6]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((1, 2), "float32")
stats = b.sbuf((1, 6), "float32")
b.bn_stats(dst=stats, data=tx)
b.bn_aggr(dst=out, data=stats)
b.dma_copy(dst=b.output("y", (1, 2), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
# Mean and variance.
np.testing.assert_array_equal(outputs["y"], [[x.mean(), x.var()]])
