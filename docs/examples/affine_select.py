import numpy as np
import trnemu

x = np.arange(1, 10, dtype=np.float32).reshape(3, 3)

b = trnemu.ProgramBuilder(target="trn2")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
out = b.sbuf((3, 3), "float32")
# A causal mask: keep column j of row p where p - j >= 0.
b.affine_select(dst=out, pattern=[[-1, 3]], channel_multiplier=1, on_true_tile=tx, on_false_value=0.0, cmp_op="greater_equal")
b.dma_copy(dst=b.output("y", (3, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], np.tril(x))
