import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (2, 4), "float32"), b.output("y", (2, 4), "float32")
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1], [2, 3]], op="add")

system = trnemu.System("trn2.48xlarge", ranks=4)
inputs = [{"x": np.full((2, 4), rank, np.float32)} for rank in range(4)]
r = system.run(b.build(), inputs)
assert [out["y"][0, 0] for out in r.outputs] == [1, 1, 5, 5]
assert r.collectives[0].ranks == (0, 1)
