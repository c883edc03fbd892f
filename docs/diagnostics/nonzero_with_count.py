# Rules of nonzero_with_count. README.md says how this is read.

#% nonzero_with_count.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.nonzero_with_count(
    dst=b.sbuf((16, 8), "int32"),  # fix: dst=b.sbuf((16, 9), "int32"),
    src=b.sbuf((16, 8), "float32"),
    padding_val=0,
)

#% nonzero_with_count.generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.nonzero_with_count(
    dst=b.sbuf((16, 9), "int32"),
    src=b.sbuf((16, 8), "float32"),
    padding_val=0,
)

#% nonzero_with_count.int32
b = trnemu.ProgramBuilder(target="trn2")
b.nonzero_with_count(
    dst=b.sbuf((16, 9), "int32"),
    src=b.sbuf((16, 8), "float32"),
    index_offset=2147483648,  # fix: leave out
    padding_val=0,
)

#% nonzero_with_count.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.nonzero_with_count(
    dst=b.sbuf((15, 9), "int32"),  # fix: dst=b.sbuf((16, 9), "int32"),
    src=b.sbuf((16, 8), "float32"),
    padding_val=0,
)

#% nonzero_with_count.special_value
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((1, 8), "float32")
b.dma_copy(dst=t, src=b.constant("x", np.full((1, 8), -0.0, np.float32)))  # fix: b.dma_copy(dst=t, src=b.constant("x", np.full((1, 8), 0.0, np.float32)))
b.nonzero_with_count(dst=b.sbuf((1, 9), "int32"), src=t)
r = trnemu.run(b.build(), {})
