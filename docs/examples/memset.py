import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
out = b.sbuf((2, 3), "int32")
b.memset(dst=out, value=7)
b.dma_copy(dst=b.output("y", (2, 3), "int32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y"], np.full((2, 3), 7))
