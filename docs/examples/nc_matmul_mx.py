import ml_dtypes
import numpy as np
import trnemu

w = np.full((32, 8), 2, np.float32).astype(ml_dtypes.bfloat16)
x = np.full((32, 12), 3, np.float32).astype(ml_dtypes.bfloat16)

b = trnemu.ProgramBuilder(target="trn3")
tw = b.sbuf(w.shape, w.dtype.name)
b.dma_copy(dst=tw, src=b.constant("w", w))
tx = b.sbuf(x.shape, x.dtype.name)
b.dma_copy(dst=tx, src=b.constant("x", x))
def quantized(tile, columns):
    data = b.sbuf((32, columns), "float8_e4m3fn_x4")
    scale = b.sbuf((4, columns), "uint8")
    b.quantize_mx(dst=data, src=tile, dst_scale=scale)
    return data, scale


w4, w_scale = quantized(tw, 2)                              # four values an element
x4, x_scale = quantized(tx, 3)
sums, out = b.psum((2, 3), "float32"), b.sbuf((2, 3), "float32")
b.nc_matmul_mx(dst=sums, stationary=w4, moving=x4, stationary_scale=w_scale, moving_scale=x_scale)
b.tensor_copy(dst=out, src=sums)
b.dma_copy(dst=b.output("y", (2, 3), "float32"), src=out)

outputs = trnemu.run(b.build(), {}).outputs
# 32 partitions of four products each.
np.testing.assert_array_equal(outputs["y"], np.full((2, 3), 32 * 4 * 2 * 3))
