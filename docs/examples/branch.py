import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
total = b.sbuf((1, 1), "int32")
b.memset(dst=total, value=0)
# Loops become branches; they are not written by hand.
with b.fori_loop(0, 3):
    b.tensor_scalar(dst=total, data=total, op0="add", operand0=2.0)
b.dma_copy(dst=b.output("y", (1, 1), "int32"), src=total)

program = b.build()
assert "branch" in program.to_text()
outputs = trnemu.run(program, {}).outputs
np.testing.assert_array_equal(outputs["y"], [[6]])
