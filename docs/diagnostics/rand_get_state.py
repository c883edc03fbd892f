# Rules of rand_get_state. README.md says how this is read.

#% rand_get_state.engine
b = trnemu.ProgramBuilder(target="trn2")
b.rand_get_state(
    dst=b.sbuf((1, 6), "uint32"),
    engine="scalar",  # fix: leave out
)

#% rand_get_state.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.rand_get_state(
    dst=b.sbuf((1, 7), "uint32"),  # fix: dst=b.sbuf((1, 6), "uint32"),
    engine="unknown",
)

#% rand_get_state.generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.rand_get_state(
    dst=b.sbuf((1, 6), "uint32"),
)

#% rand_get_state.rank
b = trnemu.ProgramBuilder(target="trn2")
b.rand_get_state(
    dst=b.sbuf((1, 2, 3), "uint32"),  # fix: dst=b.sbuf((1, 6), "uint32"),
    engine="unknown",
)

#% rand_get_state.vector_generation
b = trnemu.ProgramBuilder(target="trn2")
b.rand_get_state(
    dst=b.sbuf((1, 6), "uint32"),
    engine="vector",  # fix: leave out
)

#% rand_get_state.sbuf
#! operand.gpsimd_psum and rand_get_state.vector_generation are reported first.
