import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
y = b.output("y", (1, 1), "int32")
rank = b.register_alloc()
b.rank_id(dst=rank)
b.register_store(dst=y, src=rank)

system = trnemu.System("trn2.48xlarge", ranks=4)
r = system.run(b.build(), {})
assert [out["y"][0, 0] for out in r.outputs] == [0, 1, 2, 3]
