import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, z = (b.input(name, (2, 4), "float32") for name in "xz")
y = b.output("y", (2, 4), "float32")
b.collective_permute_implicit_reduce(
    srcs0_by_channel=[[x]], srcs1_by_channel=[[z]], dsts_by_channel=[[y]],
    replica_group=[[0, 1, 2, 3]], op="add")

system = trnemu.System("trn2.48xlarge", ranks=4)
inputs = [{name: np.full((2, 4), value, np.float32) for name, value in (("x", rank), ("z", 10))}
          for rank in range(4)]
r = system.run(b.build(), inputs)
assert [out["y"][0, 0] for out in r.outputs] == [13, 10, 11, 12]
