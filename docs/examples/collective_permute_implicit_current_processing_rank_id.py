import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
y = b.output("y", (1, 4), "int32")
rank = b.register_alloc()
for step in range(4):
    b.collective_permute_implicit_current_processing_rank_id(
        dst=rank, iteration_id=step, replica_group=[[0, 1, 2, 3]])
    b.register_store(dst=y[:, step:step + 1], src=rank)

system = trnemu.System("trn2.48xlarge", ranks=4)
r = system.run(b.build(), {})
np.testing.assert_array_equal(r.outputs[1]["y"], [[1, 0, 3, 2]])
