# Diagnostics of deadlock. README.md says how this is read.

#% deadlock
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
s = b.semaphore("ready")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1.0, engine="vector", signal=[(s, 1)])
b.tensor_copy(dst=t, src=t, engine="scalar", wait=[(s, 2)])  # fix: b.tensor_copy(dst=t, src=t, engine="scalar", wait=[(s, 1)])
r = trnemu.run(b.build(), {})
