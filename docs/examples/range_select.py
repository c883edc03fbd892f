import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
lo = np.array([[0], [1]], np.float32)
hi = np.array([[2], [3]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
tlo = b.sbuf(lo.shape, lo.dtype.name)
b.dma_copy(dst=tlo, src=b.constant("lo", lo))
thi = b.sbuf(hi.shape, hi.dtype.name)
b.dma_copy(dst=thi, src=b.constant("hi", hi))
out = b.sbuf((2, 3), "float32")
best = b.sbuf((2, 1), "float32")
# Keeps column j where lo <= j < hi, and gives the largest of those.
b.range_select(dst=out, on_true_tile=tx, comp_op0="greater_equal", comp_op1="less", bound0=tlo, bound1=thi, reduce_res=best)
b.dma_copy(dst=b.output("best", (2, 1), "float32"), src=best)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
low = np.finfo(np.float32).min
np.testing.assert_array_equal(outputs["y"], [[1, 2, low], [low, 5, 6]])
np.testing.assert_array_equal(outputs["best"], [[2], [6]])
