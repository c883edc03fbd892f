import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 3), "float32"), b.output("y", (1, 3), "float32")
b.reduce_scatter(srcs=[x], dsts=[y], replica_group=[[0, 1, 2, 3]], collective_dim=0, op="add")

system = trnemu.System("trn2.48xlarge", ranks=4)
x = np.arange(12, dtype=np.float32).reshape(4, 3)
r = system.run(b.build(), {"x": x})
for rank, out in enumerate(r.outputs):
    np.testing.assert_array_equal(out["y"], 4 * x[rank:rank + 1])
