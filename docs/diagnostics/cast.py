# Diagnostics of cast. README.md says how this is read.

#% cast.nan_to_integer
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=float("nan"))  # fix: b.memset(dst=t, value=0.0)
b.tensor_copy(dst=b.sbuf((4, 8), "int32"), src=t)
r = trnemu.run(b.build(), {})

#% cast.packed
b = trnemu.ProgramBuilder(target="trn3")
t = b.sbuf((4, 8), "float8_e4m3fn_x4")
b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
