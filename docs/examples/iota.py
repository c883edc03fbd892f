import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
out = b.sbuf((2, 3), "int32")
# offset + partition * channel_multiplier + column * step
b.iota(dst=out, pattern=[[1, 3]], offset=5, channel_multiplier=10)
b.dma_copy(dst=b.output("y", (2, 3), "int32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], [[5, 6, 7], [15, 16, 17]])
