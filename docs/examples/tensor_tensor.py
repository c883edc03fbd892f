import numpy as np
import trnemu

x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
z = np.array([[3, 2, 1], [0, 0, 0]], np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
tz = b.sbuf(z.shape, z.dtype.name)
b.dma_copy(dst=tz, src=b.constant("z", z))
out = b.sbuf((2, 3), "float32")
b.tensor_tensor(dst=out, data1=tx, data2=tz, op="maximum")
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[3, 2, 3], [4, 5, 6]])
