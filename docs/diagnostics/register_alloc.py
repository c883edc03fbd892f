# Diagnostics of register_alloc. README.md says how this is read.

#% register_alloc.value
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(2**32)  # fix: n = b.register_alloc(2**31 - 1)
