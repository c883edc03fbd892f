import numpy as np
import trnemu

x = np.ones((128, 100), np.float32)

b = trnemu.ProgramBuilder(target="trn2")
tx, out = b.sbuf((128, 100), "float32"), b.sbuf((128, 100), "float32")
b.dma_copy(dst=tx, src=b.constant("x", x))
b.dropout(dst=out, data=tx, prob=0.25)
b.dma_copy(dst=b.output("y", (128, 100), "float32"), src=out)

y = trnemu.run(b.build(), {}).outputs["y"]
assert set(np.unique(y)) == {0, 1}                 # kept values are not rescaled
assert abs((y == 0).mean() - 0.25) < 0.05
