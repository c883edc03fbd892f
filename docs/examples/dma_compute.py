import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, z = b.input("x", (2, 3), "float32"), b.input("z", (2, 3), "float32")
b.dma_compute(dst=b.output("y", (2, 3), "float32"), srcs=[x, z], reduce_op="add")

data = np.arange(6, dtype=np.float32).reshape(2, 3)
outputs = trnemu.run(b.build(), {"x": data, "z": 10 * data}).outputs
np.testing.assert_array_equal(outputs["y"], 11 * data)
