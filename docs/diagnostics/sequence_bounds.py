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
