# Diagnostics of fori_loop. README.md says how this is read.

#% fori_loop.bounds
b = trnemu.ProgramBuilder(target="trn2")
with b.fori_loop(0, 2**31 - 1, 2):  # fix: with b.fori_loop(0, 8, 2):
    b.nop()

#% fori_loop.counter_ended
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    kept, s = [], nl.ndarray((1, 1), nl.int32)
    nl.fori_loop(0, 3, kept.append)  # fix: nl.fori_loop(0, 3, lambda i: nisa.register_store(s, i))
    nisa.register_store(s, kept[0])  # fix: leave out
    return x

kernel(np.ones((4, 8), np.float32))

#% fori_loop.counter_written
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(0)
with b.fori_loop(0, 4) as i:
    b.register_move(dst=i, src=0)  # fix: b.register_move(dst=n, src=i)

#% fori_loop.step
b = trnemu.ProgramBuilder(target="trn2")
with b.fori_loop(8, 0, -1):  # fix: with b.fori_loop(0, 8, 1):
    b.nop()
