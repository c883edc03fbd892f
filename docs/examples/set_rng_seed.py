import numpy as np
import trnemu

b = trnemu.ProgramBuilder(target="trn2")
seed = b.sbuf((1, 1), "int32")
b.dma_copy(dst=seed, src=b.constant("seed", np.array([[42]], np.int32)))
for name in ("first", "again"):
    b.set_rng_seed(src_seeds=seed)
    out = b.sbuf((2, 8), "uint32")
    b.rng(dst=out, engine="vector")
    b.dma_copy(dst=b.output(name, (2, 8), "uint32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
np.testing.assert_array_equal(outputs["first"], outputs["again"])
