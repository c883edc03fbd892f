# Diagnostics of fori_loop. README.md says how this is read.

#% fori_loop.bounds
b = trnemu.ProgramBuilder(target="trn2")
with b.fori_loop(0, 2**31 - 1, 2):  # fix: with b.fori_loop(0, 8, 2):
    b.nop()

#% fori_loop.counter_written
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(0)
with b.fori_loop(0, 4) as i:
    b.register_move(dst=i, src=0)  # fix: b.register_move(dst=n, src=i)

#% fori_loop.step
b = trnemu.ProgramBuilder(target="trn2")
with b.fori_loop(8, 0, -1):  # fix: with b.fori_loop(0, 8, 1):
    b.nop()
