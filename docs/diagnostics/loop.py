# Diagnostics of loop. README.md says how this is read.

#% loop.open
b = trnemu.ProgramBuilder(target="trn2")
with b.fori_loop(0, 4):
    b.nop()
    p = b.build()  # fix: leave out
