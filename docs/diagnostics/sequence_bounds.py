# Rules of sequence_bounds. README.md says how this is read.

#% sequence_bounds.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.sequence_bounds(
    dst=b.sbuf((1, 1, 1), "float32"),  # fix: dst=b.sbuf((1, 2, 1), "float32"),
    segment_ids=b.sbuf((1, 1), "float32"),
)

#% sequence_bounds.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.sequence_bounds(
    dst=b.sbuf((2, 2, 1), "float32"),  # fix: dst=b.sbuf((1, 2, 1), "float32"),
    segment_ids=b.sbuf((1, 1), "float32"),
)

#% sequence_bounds.segment_ids
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((1, 8), "float32")
b.memset(dst=t, value=-1.0)  # fix: b.memset(dst=t, value=1.0)
b.sequence_bounds(dst=b.sbuf((1, 2, 8), "float32"), segment_ids=t)
r = trnemu.run(b.build(), {})
