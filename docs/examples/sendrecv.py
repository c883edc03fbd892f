import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2", cores=2)
for core in (0, 1):
    with b.core(core):
        own, other = b.sbuf((2, 4), "float32"), b.sbuf((2, 4), "float32")
        b.memset(dst=own, value=float(core + 1))
        b.sendrecv(src=own, dst=other, send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)
        b.dma_copy(dst=b.output(f"y{core}", (2, 4), "float32"), src=other)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y0"], np.full((2, 4), 2))
np.testing.assert_array_equal(outputs["y1"], np.full((2, 4), 1))
