import ml_dtypes
import numpy as np
import trnemu

x = np.tile(np.array([1, 2, 4, -8], np.float32), (32, 1)).astype(ml_dtypes.bfloat16)

b = trnemu.ProgramBuilder(target="trn3")
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
data = b.sbuf((32, 1), "float8_e4m3fn_x4")
scale = b.sbuf((4, 1), "uint8")
b.quantize_mx(dst=data, src=tx, dst_scale=scale)
b.dma_copy(dst=b.output("data", (32, 1), "float8_e4m3fn_x4"), src=data)
b.dma_copy(dst=b.output("scale", (4, 1), "uint8"), src=scale)

outputs = trnemu.run(b.build(), {}).outputs
# The largest of 32 values is 8 = 2**3: the exponent is 3 - (8 - 1) = -4.
np.testing.assert_array_equal(outputs["scale"], np.full((4, 1), 127 - 4))
elements = outputs["data"].view(ml_dtypes.float8_e4m3fn).astype(np.float32)
np.testing.assert_array_equal(elements[0] * 2.0**-4, [1, 2, 4, -8])
