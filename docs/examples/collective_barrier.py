import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (2, 4), "float32"), b.output("y", (2, 4), "float32")
b.collective_barrier(data=x, replica_group=[[0, 1]])
b.dma_copy(dst=y, src=x)  # when both ranks have come as far

system = trnemu.System("trn2.48xlarge", ranks=2)
r = system.run(b.build(), {"x": np.ones((2, 4), np.float32)})
assert r.collectives[0].operation == "collective_barrier"
np.testing.assert_array_equal(r.outputs[0]["y"], np.ones((2, 4)))
