# Diagnostics of cast. README.md says how this is read.

#% cast.nan_to_integer
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=float("nan"))  # fix: b.memset(dst=t, value=0.0)
b.tensor_copy(dst=b.sbuf((4, 8), "int32"), src=t)
r = trnemu.run(b.build(), {})

#% cast.packed
#! Defence in depth: operand.dtype refuses packed dtypes where there is arithmetic.

#% cast.overflow
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1e6)  # fix: b.memset(dst=t, value=6e4)
b.tensor_copy(dst=b.sbuf((4, 8), "float16"), src=t)  # of at most 65504
r = trnemu.run(b.build(), {})
