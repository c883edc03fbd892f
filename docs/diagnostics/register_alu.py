# Diagnostics of register_alu. README.md says how this is read.

#% register_alu.value
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc()
b.register_alu(dst=n, op="add", a=2**32, b=1)  # fix: b.register_alu(dst=n, op="add", a=2**31 - 1, b=1)
