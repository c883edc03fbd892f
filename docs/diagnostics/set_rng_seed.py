# Rules of set_rng_seed. README.md says how this is read.

#% set_rng_seed.one
b = trnemu.ProgramBuilder(target="trn2")
b.set_rng_seed(
    src_seeds=b.sbuf((1, 2), "float32"),  # fix: src_seeds=b.sbuf((1, 1), "float32"),
)
