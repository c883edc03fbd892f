import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x = [b.input(f"x{c}", (2, 4), "float32") for c in range(2)]
y = [b.output(f"y{c}", (2, 4), "float32") for c in range(2)]
b.collective_permute_implicit(
    srcs_by_channel=[[x[0]], [x[1]]], dsts_by_channel=[[y[0]], [y[1]]],
    replica_group=[[0, 1, 2, 3]], channel_ids=[0, 1])

system = trnemu.System("trn2.48xlarge", ranks=4)
inputs = [{f"x{c}": np.full((2, 4), 10 * c + rank, np.float32) for c in range(2)}
          for rank in range(4)]
r = system.run(b.build(), inputs)
assert [out["y0"][0, 0] for out in r.outputs] == [3, 0, 1, 2]
assert [out["y1"][0, 0] for out in r.outputs] == [13, 10, 11, 12]
