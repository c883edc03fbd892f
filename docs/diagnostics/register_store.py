# Diagnostics of register_store. README.md says how this is read.

#% register_store.one
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(3)
b.register_store(dst=b.sbuf((1, 2), "int32"), src=n)  # fix: b.register_store(dst=b.sbuf((1, 1), "int32"), src=n)

#% register_store.size
#! Defence in depth: no dtype has more than 4 bytes.

#% register_store.memory
#! operand.buffer is reported first.
