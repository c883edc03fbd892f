import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (4, 3), "float32")
rows = b.sbuf((2, 1), "int32")
t = b.sbuf((2, 3), "float32")
b.dma_copy(dst=rows, src=b.constant("rows", np.array([[3], [1]], np.int32)))
# A gather: row p of t is the row of x that partition p of `rows` names.
b.dma_copy(dst=t, src=x.ap([[3, 2], [1, 3]], vector_offset=rows, indirect_dim=0))
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=t)

data = np.arange(12, dtype=np.float32).reshape(4, 3)
outputs = trnemu.run(b.build(), {"x": data}).outputs
np.testing.assert_array_equal(outputs["y"], data[[3, 1]])
