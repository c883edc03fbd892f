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

#% rng.generator
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "uint32")
b.rng(dst=t)  # fix: b.dma_copy(dst=t, src=b.constant("drawn", np.random.default_rng(0).integers(0, 2**32, (4, 8), np.uint32)))
r = trnemu.run(b.build(), {})
