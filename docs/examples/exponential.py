import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
m = np.array([[3], [6]], np.float32)

b = trnemu.ProgramBuilder(target="trn3")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
tm = b.sbuf(m.shape, m.dtype.name)
b.dma_copy(dst=tm, src=b.constant("m", m))
out = b.sbuf((2, 3), "float32")
total = b.sbuf((2, 1), "float32")
# exp(x - max_value), and its sum for a softmax.
b.exponential(dst=out, src=tx, max_value=tm, reduce_res=total, reduce_cmd="reset_reduce")
b.dma_copy(dst=b.output("total", (2, 1), "float32"), src=total)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
wanted = np.exp(x - m)
np.testing.assert_allclose(outputs["y"], wanted, rtol=1e-6)
np.testing.assert_allclose(outputs["total"], wanted.sum(axis=1, keepdims=True), rtol=1e-6)
