# Diagnostics of races. README.md says how this is read.

#% race.write_read
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
x = b.input("x", (128, 64), "float32")
t, u = b.sbuf((128, 64), "float32"), b.sbuf((128, 64), "float32")
loaded = b.semaphore()
b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])  # each of its 16 queues adds 1
b.tensor_copy(dst=u, src=t, wait=[(loaded, 15)])  # fix: b.tensor_copy(dst=u, src=t, wait=[(loaded, 16)])
r = trnemu.run(b.build(), {"x": np.ones((128, 64), np.float32)})

#% race.read_write
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
x = b.input("x", (2, 128, 64), "float32")
t, u = b.sbuf((128, 64), "float32"), b.sbuf((128, 64), "float32")
loaded, copied = b.semaphore(), b.semaphore()
b.dma_copy(dst=t, src=x[0], signal=[(loaded, 1)])
b.tensor_copy(dst=u, src=t, wait=[(loaded, 16)], signal=[(copied, 1)])
b.dma_copy(dst=t, src=x[1], wait=[(loaded, 16)])  # fix: b.dma_copy(dst=t, src=x[1], wait=[(copied, 1)])
r = trnemu.run(b.build(), {"x": np.ones((2, 128, 64), np.float32)})

#% race.write_write
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
t = b.sbuf((128, 64), "float32")
cleared = b.semaphore()
b.memset(dst=t, value=0.0, engine="vector", signal=[(cleared, 1)])
b.memset(
    dst=t[:, 0:8], value=1.0, engine="gpsimd",
    # fix: wait=[(cleared, 1)],
)
r = trnemu.run(b.build(), {})

#% race.replicated_write
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    half = slice(0, 4)  # fix: half = slice(2 * nl.program_id(0), 2 * nl.program_id(0) + 2)
    nl.store(out[half], nl.load(x[half]))
    return out

kernel[2](np.ones((4, 8), np.float32))
r = kernel.result  # fix: leave out
