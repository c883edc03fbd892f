# Rules of rand_set_state. README.md says how this is read.

#% rand_set_state.engine
b = trnemu.ProgramBuilder(target="trn2")
b.rand_set_state(
    src_seeds=b.sbuf((1, 6), "uint32"),
    engine="tensor",  # fix: leave out
)

#% rand_set_state.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.rand_set_state(
    src_seeds=b.sbuf((1, 7), "uint32"),  # fix: src_seeds=b.sbuf((1, 6), "uint32"),
)

#% rand_set_state.generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.rand_set_state(
    src_seeds=b.sbuf((1, 6), "uint32"),
    engine="unknown",
)

#% rand_set_state.rank
b = trnemu.ProgramBuilder(target="trn2")
b.rand_set_state(
    src_seeds=b.sbuf((1, 2, 3), "uint32"),  # fix: src_seeds=b.sbuf((1, 6), "uint32"),
)

#% rand_set_state.vector_generation
b = trnemu.ProgramBuilder(target="trn2")
b.rand_set_state(
    src_seeds=b.sbuf((1, 6), "uint32"),
    engine="vector",  # fix: leave out
)

#% rand_set_state.zero_state
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((128, 6), "uint32")
b.memset(dst=t, value=0)  # fix: b.memset(dst=t, value=1)
b.rand_set_state(src_seeds=t)
r = trnemu.run(b.build(), {})
