# Rules of rng. README.md says how this is read.

#% rng.engine
b = trnemu.ProgramBuilder(target="trn2")
b.rng(
    dst=b.sbuf((4, 1), "int8"),
    engine="tensor",  # fix: leave out
)

#% rng.gpsimd_generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.rng(
    dst=b.sbuf((4, 1), "uint32"),
    engine="gpsimd",
)
