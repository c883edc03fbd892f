import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 4), "float32"), b.inout("y", (1, 6), "float32")
counts = b.inout("counts", (3, 2), "uint32")
b.all_to_all_v(srcs=[x], dsts=[y], replica_group=[[0, 1]], metadata_tensor=counts)

system = trnemu.System("trn2.48xlarge", ranks=2)
counts, starts = [[1, 2], [3, 0]], [[0, 1], [0, 3]]  # by sender and receiver
inputs = [{"x": np.arange(4, dtype=np.float32)[None] + 10 * rank,
           "counts": np.array([counts[rank], starts[rank], [0, 0]], np.uint32),
           "y": np.full((1, 6), -1, np.float32)} for rank in range(2)]
# The documentation has it between nodes, and where switches join the chips.
r = system.run(b.build(), inputs, allow=["all_to_all_v.system"])
np.testing.assert_array_equal(r.outputs[0]["y"], [[0, -1, -1, 10, 11, 12]])
np.testing.assert_array_equal(r.outputs[1]["y"], [[1, 2, -1, -1, -1, -1]])
assert r.outputs[1]["counts"][2].tolist() == [2, 0]  # received
