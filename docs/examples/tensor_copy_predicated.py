import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
p = np.array([[1, 0, 1], [0, 0, 1]], np.uint32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
tp = b.sbuf(p.shape, p.dtype.name)
b.dma_copy(dst=tp, src=b.constant("p", p))
out = b.sbuf((2, 3), "float32")
b.memset(dst=out, value=0.0)
# Only where the predicate is not zero; the rest of out stays.
b.tensor_copy_predicated(dst=out, src=tx, predicate=tp)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[1, 0, 3], [0, 0, 6]])
