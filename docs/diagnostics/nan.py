# Diagnostics of --stop-at-nan. README.md says how this is read.

#% nan.infinity_produced
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1e30)
b.tensor_tensor(dst=t, data1=t, data2=t, op="multiply")  # fix: b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
r = trnemu.run(b.build(), {}, stop_at_nan=True)

#% nan.produced
b = trnemu.ProgramBuilder(target="trn2")
t, top = b.sbuf((4, 8), "float32"), b.sbuf((4, 1), "float32")
b.memset(dst=t, value=float("-inf"))  # fix: b.memset(dst=t, value=-1e30)
b.tensor_reduce(dst=top, op="maximum", data=t, axis=1)
b.tensor_scalar(dst=t, data=t, op0="subtract", operand0=top)
r = trnemu.run(b.build(), {}, stop_at_nan=True)
