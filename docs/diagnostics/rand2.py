# Rules of rand2. README.md says how this is read.

#% rand2.bounds_shape
b = trnemu.ProgramBuilder(target="trn3")
b.rand2(
    dst=b.sbuf((32, 1), "float32"),
    min=b.sbuf((4, 3), "float32"),  # fix: min=b.sbuf((32, 1), "float32"),
    max=0,
)

#% rand2.range
b = trnemu.ProgramBuilder(target="trn3")
b.rand2(
    dst=b.sbuf((32, 1), "float32"),
    min=0,  # fix: min=-1.5,
    max=0,
)

#% rand2.generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.rand2(
    dst=b.sbuf((4, 8), "float32"),
    min=0.0,
    max=1.0,
)
