# Rules of reciprocal. README.md says how this is read.

#% reciprocal.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.reciprocal(
    dst=b.sbuf((4, 8), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
)

#% reciprocal.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.reciprocal(
    dst=b.sbuf((3, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
)

#% reciprocal.zero
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=0.0)  # fix: b.memset(dst=t, value=1e-6)
b.reciprocal(dst=t, data=t)
r = trnemu.run(b.build(), {})
