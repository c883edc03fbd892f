# Rules of select_reduce. README.md says how this is read.

#% select_reduce.both_in_psum
b = trnemu.ProgramBuilder(target="trn2")
b.select_reduce(
    dst=b.sbuf((4, 1), "float32"),
    predicate=b.psum((4, 1), "int16"),  # fix: predicate=b.sbuf((4, 1), "int16"),
    on_true=b.psum((4, 1), "float32"),
    on_false=0.0,
)

#% select_reduce.on_false_shape
b = trnemu.ProgramBuilder(target="trn2")
b.select_reduce(
    dst=b.sbuf((4, 33), "float32"),
    predicate=b.sbuf((4, 33), "int16"),
    on_true=b.sbuf((4, 33), "float32"),
    on_false=b.sbuf((4, 3), "float32"),  # fix: on_false=b.sbuf((4, 1), "float32"),
)

#% select_reduce.reduce_cmd
b = trnemu.ProgramBuilder(target="trn2")
b.select_reduce(
    dst=b.sbuf((4, 1), "float32"),
    predicate=b.sbuf((4, 1), "int16"),
    on_true=b.sbuf((4, 1), "float32"),
    on_false=0.0,
    reduce_cmd="reset",  # fix: leave out
)

#% select_reduce.reduce_op
b = trnemu.ProgramBuilder(target="trn2")
b.select_reduce(
    dst=b.sbuf((4, 33), "float32"),
    predicate=b.sbuf((4, 33), "uint8"),
    on_true=b.sbuf((4, 33), "float32"),
    on_false=0.0,
    reduce_op="add",  # fix: leave out
)

#% select_reduce.reduce_res_shape
b = trnemu.ProgramBuilder(target="trn2")
b.select_reduce(
    dst=b.sbuf((4, 1), "float32"),
    predicate=b.sbuf((4, 1), "uint8"),
    on_true=b.sbuf((4, 1), "float32"),
    on_false=0.0,
    reduce_res=b.sbuf((4, 3), "float32"),  # fix: reduce_res=b.sbuf((4, 1), "float32"),
)

#% select_reduce.shape
b = trnemu.ProgramBuilder(target="trn2")
b.select_reduce(
    dst=b.sbuf((4, 1), "float32"),
    predicate=b.sbuf((4, 1), "int16"),
    on_true=b.sbuf((4, 8), "float32"),  # fix: on_true=b.sbuf((4, 1), "float32"),
    on_false=0,
)
