# Rules of memset. README.md says how this is read.

#% memset.engine
b = trnemu.ProgramBuilder(target="trn2")
b.memset(
    dst=b.sbuf((4, 1), "float32"),
    value=0.0,
    engine="sync",  # fix: leave out
)

#% memset.integer_value
b = trnemu.ProgramBuilder(target="trn2")
b.memset(
    dst=b.sbuf((4, 1), "uint8"),
    value=0.5,  # fix: value=0.0,
)

#% memset.packed
b = trnemu.ProgramBuilder(target="trn2")
b.memset(
    dst=b.sbuf((4, 8), "float8_e5m2_x4"),
    value=1,  # fix: value=0.0,
)

#% memset.gpsimd_psum
#! operand.gpsimd_psum says the same of the operand, and is reported instead.
