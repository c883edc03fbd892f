import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 4), "float32"), b.inout("y", (1, 16), "float32")
counts = b.inout("counts", (3, 4), "uint32")
b.all_gather_v(srcs=[x], dsts=[y], replica_group=[[0, 1, 2, 3]], metadata_tensor=counts)

system = trnemu.System("trn2.48xlarge", ranks=4)
inputs = []
for rank in range(4):  # rank r sends its first r elements
    rows = np.zeros((3, 4), np.uint32)
    rows[0, 0] = rank
    inputs.append({"x": np.full((1, 4), rank, np.float32), "counts": rows,
                   "y": np.full((1, 16), -1, np.float32)})
r = system.run(b.build(), inputs)
for out in r.outputs:
    np.testing.assert_array_equal(out["y"].reshape(4, 4), [
        [-1, -1, -1, -1], [1, -1, -1, -1], [2, 2, -1, -1], [3, 3, 3, -1]])
    np.testing.assert_array_equal(out["counts"][2], [0, 1, 2, 3])
