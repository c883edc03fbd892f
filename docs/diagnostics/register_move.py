# Diagnostics of register_move. README.md says how this is read.

#% register_move.value
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc()
b.register_move(dst=n, src=2**32)  # fix: b.register_move(dst=n, src=2**31 - 1)
