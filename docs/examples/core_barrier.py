import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2", cores=2)
shared = b.scratch("shared", (2, 4), "float32")
for core in (0, 1):
    with b.core(core):
        own, other = b.sbuf((1, 4), "float32"), b.sbuf((1, 4), "float32")
        b.memset(dst=own, value=float(core + 1))
        b.dma_copy(dst=shared[core:core + 1], src=own)
        b.core_barrier(data=shared, cores=(0, 1))        # both have written
        b.dma_copy(dst=other, src=shared[1 - core:2 - core])
        b.dma_copy(dst=b.output(f"y{core}", (1, 4), "float32"), src=other)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["y0"], [[2, 2, 2, 2]])
np.testing.assert_array_equal(outputs["y1"], [[1, 1, 1, 1]])
