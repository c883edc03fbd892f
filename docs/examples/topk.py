import ml_dtypes
import numpy as np
import trnemu

x = np.arange(32).reshape(16, 2).astype(ml_dtypes.bfloat16)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
values, places = b.sbuf((16, 3), "bfloat16"), b.sbuf((16, 3), "uint32")
# Sixteen partitions are one list, down the partitions first.
b.topk(val_dst=values, idx_dst=places, src=tx, n=32)
b.dma_copy(dst=b.output("values", (16, 3), "bfloat16"), src=values)
b.dma_copy(dst=b.output("places", (16, 3), "uint32"), src=places)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["values"][0].astype(int), [29, 30, 31])
np.testing.assert_array_equal(outputs["places"][0], [30, 15, 31])
