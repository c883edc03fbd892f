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
