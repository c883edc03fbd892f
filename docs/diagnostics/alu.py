# Diagnostics of the ALU operations. README.md says how this is read.

#% alu.nan
b = trnemu.ProgramBuilder(target="trn2")
t, u = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
b.memset(dst=t, value=float("nan"))  # fix: b.memset(dst=t, value=2.0)
b.memset(dst=u, value=1.0)
b.tensor_tensor(dst=t, data1=t, data2=u, op="maximum")
r = trnemu.run(b.build(), {})
