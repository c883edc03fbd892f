import numpy as np
import trnemu

programs = []
for rank in range(2):  # each gives the other its tensor
    b = trnemu.ProgramBuilder(target="trn2", name=f"rank{rank}")
    x, y = b.input("x", (2, 4), "float32"), b.output("y", (2, 4), "float32")
    b.send(src=x, to_rank=1 - rank)
    b.recv(dst=y, from_rank=1 - rank, stream=1)
    programs.append(b.build())

system = trnemu.System("trn2.48xlarge", ranks=2)
inputs = [{"x": np.full((2, 4), rank, np.float32)} for rank in range(2)]
r = system.run(programs, inputs)
assert [out["y"][0, 0] for out in r.outputs] == [1, 0]
