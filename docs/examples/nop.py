import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
loaded, passed = b.semaphore(), b.semaphore()
t = b.sbuf((2, 3), "float32")
b.dma_copy(dst=t, src=b.input("x", (2, 3), "float32"), signal=[(loaded, 1)])
b.nop(engine="vector", wait=[(loaded, 16)], signal=[(passed, 1)])     # a DMA raises by 16
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=t, wait=[(passed, 1)])

data = np.arange(6, dtype=np.float32).reshape(2, 3)
outputs = trnemu.run(b.build(), {"x": data}).outputs
np.testing.assert_array_equal(outputs["y"], data)
