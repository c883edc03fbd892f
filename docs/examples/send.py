import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2", name="sender")
b.send(src=b.input("x", (2, 4), "float32"), to_rank=1)
sender = b.build()

b = trnemu.ProgramBuilder(target="trn2", name="receiver")
b.recv(dst=b.output("y", (2, 4), "float32"), from_rank=0)
receiver = b.build()

system = trnemu.System("trn2.48xlarge", ranks=2)
r = system.run([sender, receiver], [{"x": np.ones((2, 4), np.float32)}, {}])
np.testing.assert_array_equal(r.outputs[1]["y"], np.ones((2, 4)))
