import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (2, 4), "float32"), b.output("y", (2, 4), "float32")
b.collective_permute(srcs=[x], dsts=[y], source_target_pairs=[[0, 1], [1, 0]])

system = trnemu.System("trn2.48xlarge", ranks=2)
inputs = [{"x": np.full((2, 4), rank, np.float32)} for rank in range(2)]
r = system.run(b.build(), inputs)
assert [out["y"][0, 0] for out in r.outputs] == [1, 0]
