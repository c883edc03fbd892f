# Rules of affine_select. README.md says how this is read.

#% affine_select.cmp_op
b = trnemu.ProgramBuilder(target="trn2")
b.affine_select(
    dst=b.sbuf((4, 8), "float32"),
    on_true_tile=b.sbuf((4, 8), "float32"),
    on_false_value=0.0,
    cmp_op="minimum",  # fix: leave out
    pattern=[[1, 2], [0, 2], [3, 1], [-1, 2]],
    channel_multiplier=0,
)

#% affine_select.int32
b = trnemu.ProgramBuilder(target="trn2")
b.affine_select(
    dst=b.sbuf((4, 8), "float32"),
    on_true_tile=b.sbuf((4, 8), "float32"),
    on_false_value=0.0,
    pattern=[[4, 2], [1, 4]],
    channel_multiplier=-2147483649,  # fix: channel_multiplier=1,
)

#% affine_select.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.affine_select(
    dst=b.sbuf((4, 8), "float32"),
    on_true_tile=b.sbuf((3, 8), "float32"),  # fix: on_true_tile=b.sbuf((4, 8), "float32"),
    on_false_value=0.0,
    pattern=[[1, 8]],
    channel_multiplier=0,
)

#% affine_select.pattern_size
b = trnemu.ProgramBuilder(target="trn2")
b.affine_select(
    dst=b.sbuf((4, 7), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    on_true_tile=b.sbuf((4, 8), "float32"),
    on_false_value=0.0,
    pattern=[[1, 8]],
    channel_multiplier=0,
)

#% affine_select.pattern_values
b = trnemu.ProgramBuilder(target="trn2")
b.affine_select(
    dst=b.sbuf((4, 8), "float32"),
    pattern=[[2**31, 8]],  # fix: pattern=[[1, 8]],
    offset=0,
    channel_multiplier=-1,
    on_true_tile=b.sbuf((4, 8), "float32"),
    on_false_value=0.0,
)

#% affine_select.on_false_type
#! A rule of the api layer, which a call is not checked for; a program, which verify reads, no longer knows how the number was written.

#% affine_select.pattern_length
#! argument.count is reported first.
