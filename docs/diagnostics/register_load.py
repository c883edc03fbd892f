# Diagnostics of register_load. README.md says how this is read.

#% register_load.one
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc()
b.register_load(dst=n, src=b.sbuf((1, 2), "int32"))  # fix: b.register_load(dst=n, src=b.sbuf((1, 2), "int32")[:, 0:1])

#% register_load.size
#! Defence in depth: no dtype has more than 4 bytes.

#% register_load.memory
#! operand.buffer is reported first.
