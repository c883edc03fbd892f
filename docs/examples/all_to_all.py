import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 2), "float32"), b.output("y", (4, 2), "float32")
b.all_to_all(srcs=[x], dsts=[y], replica_group=[[0, 1, 2, 3]], collective_dim=0)

system = trnemu.System("trn2.48xlarge", ranks=4)
x = np.arange(32, dtype=np.float32).reshape(4, 4, 2)  # by rank
r = system.run(b.build(), [{"x": one} for one in x])
for rank, out in enumerate(r.outputs):
    np.testing.assert_array_equal(out["y"], x[:, rank])
