# Diagnostics of register. README.md says how this is read.

#% register.core
b = trnemu.ProgramBuilder(target="trn2", cores=2)
count = b.register_alloc(0)
with b.core(1):  # fix: with b.core(0):
    b.register_move(count, 1)

#% register.count
b = trnemu.ProgramBuilder(target="trn2")
n = [b.register_alloc(i) for i in range(65)]  # fix: n = [b.register_alloc(i) for i in range(60)]
t = b.sbuf((1, 65), "int32")
for i, register in enumerate(n):
    b.register_store(dst=t[:, i:i + 1], src=register)

#% register.unset
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc()  # fix: n = b.register_alloc(0)
b.register_store(dst=b.sbuf((1, 1), "int32"), src=n)
r = trnemu.run(b.build(), {})
