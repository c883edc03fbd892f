# Rules of iota. README.md says how this is read.

#% iota.int32
b = trnemu.ProgramBuilder(target="trn2")
b.iota(
    dst=b.sbuf((4, 8), "float32"),
    pattern=[[4, 2], [1, 4]],
    channel_multiplier=2147483648,  # fix: leave out
)

#% iota.pattern_size
b = trnemu.ProgramBuilder(target="trn2")
b.iota(
    dst=b.sbuf((4, 7), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    pattern=[[1, 8]],
)

#% iota.pattern_values
b = trnemu.ProgramBuilder(target="trn2")
b.iota(
    dst=b.sbuf((4, 8), "int32"),
    pattern=[[2**31, 8]],  # fix: pattern=[[1, 8]],
    offset=0,
)

#% iota.pattern_length
#! argument.count is reported first.

#% iota.inexact
b = trnemu.ProgramBuilder(target="trn2")
b.iota(
    dst=b.sbuf((4, 512), "bfloat16"),  # fix: dst=b.sbuf((4, 512), "int32"),
    pattern=[[1, 512]],
)
r = trnemu.run(b.build(), {})
