import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((3, 4), "float32")
b.dma_transpose(dst=t, src=b.input("x", (4, 3), "float32"))
b.dma_copy(dst=b.output("y", (3, 4), "float32"), src=t)

data = np.arange(12, dtype=np.float32).reshape(4, 3)
outputs = trnemu.run(b.build(), {"x": data}).outputs
np.testing.assert_array_equal(outputs["y"], data.T)
