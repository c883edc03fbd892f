# Rules of range_select. README.md says how this is read.

#% range_select.bounds
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),
    on_true_tile=b.sbuf((4, 1), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 2), "float32"),  # fix: bound1=b.sbuf((4, 1), "float32"),
)

#% range_select.comp_op
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),
    on_true_tile=b.sbuf((4, 1), "float32"),
    comp_op0="maximum",  # fix: comp_op0="greater_equal",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
)

#% range_select.generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),
    on_true_tile=b.sbuf((4, 1), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
)

#% range_select.on_false_value
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),
    on_true_tile=b.sbuf((4, 1), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
    on_false_value=0.0,  # fix: leave out
)

#% range_select.range
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),
    on_true_tile=b.sbuf((4, 1), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
    range_start=16777216,  # fix: leave out
)

#% range_select.reduce_cmd
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),
    on_true_tile=b.sbuf((4, 1), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
    reduce_cmd="load_reduce",  # fix: leave out
)

#% range_select.reduce_op
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),
    on_true_tile=b.sbuf((4, 1), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
    reduce_op="add",  # fix: leave out
)

#% range_select.reduce_res_shape
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 33), "float32"),
    on_true_tile=b.sbuf((4, 33), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
    reduce_res=b.sbuf((4, 2), "float32"),  # fix: reduce_res=b.sbuf((4, 1), "float32"),
)

#% range_select.shape
b = trnemu.ProgramBuilder(target="trn2")
b.range_select(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    on_true_tile=b.sbuf((4, 8), "float32"),
    comp_op0="greater",
    comp_op1="greater",
    bound0=b.sbuf((4, 1), "float32"),
    bound1=b.sbuf((4, 1), "float32"),
)
