import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
p = np.array([[1, 0, 1], [0, 0, 1]], np.uint8)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
tp = b.sbuf(p.shape, p.dtype.name)
b.dma_copy(dst=tp, src=b.constant("p", p))
out = b.sbuf((2, 3), "float32")
b.select_reduce(dst=out, predicate=tp, on_true=tx, on_false=-1.0)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[1, -1, 3], [-1, -1, 6]])
