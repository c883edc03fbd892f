import numpy as np
import trnemu

x = np.arange(64, dtype=np.float32).reshape(32, 2)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((32, 2), "float32")
# Lane i takes partition 31 - i of its 32; -1 would leave it alone.
b.nc_stream_shuffle(dst=out, src=tx, shuffle_mask=list(range(31, -1, -1)))
b.dma_copy(dst=b.output("y", (32, 2), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], x[::-1])
