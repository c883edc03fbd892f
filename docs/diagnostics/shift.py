# Diagnostics of shifts. README.md says how this is read.

#% shift.amount
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "uint8")
b.memset(dst=t, value=1)
b.tensor_scalar(dst=t, data=t, op0="left_shift", operand0=8)  # fix: b.tensor_scalar(dst=t, data=t, op0="left_shift", operand0=7)
r = trnemu.run(b.build(), {})
