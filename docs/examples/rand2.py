import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn3")
out = b.sbuf((2, 100), "float32")
b.rand2(dst=out, min=-1.0, max=3.0)
b.dma_copy(dst=b.output("y", (2, 100), "float32"), src=out)

y = trnemu.run(b.build(), {}).outputs["y"]
assert y.min() >= -1 and y.max() <= 3 and abs(y.mean() - 1) < 0.5
