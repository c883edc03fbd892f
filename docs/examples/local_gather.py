import numpy as np
import trnemu

x = np.arange(16 * 20, dtype=np.float32).reshape(16, 20)
i = np.arange(19, 3, -1, dtype=np.uint16).reshape(16, 1)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
ti = b.sbuf(i.shape, i.dtype.name)
b.dma_copy(dst=ti, src=b.constant("i", i))
out = b.sbuf((16, 16), "float32")
# Sixteen partitions share their 16 indices: element k is at index[k % 16, k // 16].
b.local_gather(dst=out, src_buffer=tx, index=ti)
b.dma_copy(dst=b.output("y", (16, 16), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], x[:, i[:, 0]])
