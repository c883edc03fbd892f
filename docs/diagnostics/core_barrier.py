# Rules of core_barrier. README.md says how this is read.

#% core_barrier.cores
b = trnemu.ProgramBuilder(target="trn2", cores=2)
b.core_barrier(
    data=b.scratch("data", (4, 1), "float32"),
    cores=(),  # fix: cores=(0, 1),
)

#% core_barrier.engine
b = trnemu.ProgramBuilder(target="trn2", cores=2)
b.core_barrier(
    data=b.scratch("data", (4, 1), "float32"),
    cores=(1, 0),
    engine="dma",  # fix: leave out
)

#% core_barrier.generation
b = trnemu.ProgramBuilder(target="trn1")
b.core_barrier(
    data=b.scratch("data", (4, 1), "float32"),
    cores=(0, 1),  # fix: cores=(0,),
)

#% core_barrier.own_core
b = trnemu.ProgramBuilder(target="trn2")
b.core_barrier(
    data=b.scratch("data", (4, 1), "float32"),
    cores=(1, 1),  # fix: cores=(0,),
    engine="unknown",
)

#% core_barrier.two_cores
b = trnemu.ProgramBuilder(target="trn2")
b.core_barrier(
    data=b.scratch("data", (4, 1), "float32"),
    cores=(),  # fix: cores=(0,),
    engine="unknown",
)
