# Diagnostics of memory. README.md says how this is read.

#% memory.read_unwritten
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((128, 8), "float32")
b.memset(dst=t[0:64], value=1.0)
# fix: b.memset(dst=t[64:128], value=1.0)
b.tensor_reduce(dst=b.sbuf((128, 1), "float32"), op="add", data=t, axis=1)
r = trnemu.run(b.build(), {})

#% memory.overwritten
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((128, 16), "float32", address=(0, 0))
# 16 float32 are 64 bytes: 32 of them are t's, too.
u = b.sbuf((128, 16), "float32", address=(0, 32))  # fix: u = b.sbuf((128, 16), "float32", address=(0, 64))
b.memset(dst=t, value=1.0)
b.memset(dst=u, value=2.0)
b.tensor_copy(dst=b.sbuf((128, 16), "float32"), src=t)
r = trnemu.run(b.build(), {})
