# Rules of local_gather. README.md says how this is read.

#% local_gather.dst_free_size
b = trnemu.ProgramBuilder(target="trn2")
b.local_gather(
    dst=b.sbuf((16, 11), "float32"),  # fix: dst=b.sbuf((16, 16), "float32"),
    src_buffer=b.sbuf((16, 40), "float32"),
    index=b.sbuf((16, 1), "uint16"),
)

#% local_gather.dst_partitions
b = trnemu.ProgramBuilder(target="trn2")
b.local_gather(
    dst=b.sbuf((16, 11), "float32"),  # fix: dst=b.sbuf((32, 16), "float32"),
    src_buffer=b.sbuf((32, 40), "float32"),
    index=b.sbuf((32, 1), "uint16"),
)

#% local_gather.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.local_gather(
    dst=b.sbuf((16, 11), "float32"),  # fix: dst=b.sbuf((16, 16), "bfloat16"),
    src_buffer=b.sbuf((16, 40), "bfloat16"),
    index=b.sbuf((16, 1), "uint16"),
)

#% local_gather.most_indices
b = trnemu.ProgramBuilder(target="trn2")
b.local_gather(
    dst=b.sbuf((16, 11), "float32"),
    src_buffer=b.sbuf((16, 40), "float32"),
    index=b.sbuf((16, 257), "uint16"),
    # fix: num_valid_indices=11,
)

#% local_gather.num_valid_indices
b = trnemu.ProgramBuilder(target="trn2")
b.local_gather(
    dst=b.sbuf((16, 11), "float32"),
    src_buffer=b.sbuf((16, 40), "float32"),
    index=b.sbuf((16, 1), "uint16"),
    num_valid_indices=33,  # fix: num_valid_indices=11,
)

#% local_gather.num_elem_per_idx
b = trnemu.ProgramBuilder(target="trn2")
b.local_gather(
    dst=b.sbuf((16, 48), "float32"),  # fix: dst=b.sbuf((16, 32), "float32"),
    src_buffer=b.sbuf((16, 64), "float32"),
    index=b.sbuf((16, 1), "uint16"),
    num_elem_per_idx=3,  # fix: num_elem_per_idx=2,
)

#% local_gather.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.local_gather(
    dst=b.sbuf((20, 16), "float32"),  # fix: dst=b.sbuf((32, 16), "float32"),
    src_buffer=b.sbuf((20, 64), "float32"),  # fix: src_buffer=b.sbuf((32, 64), "float32"),
    index=b.sbuf((20, 1), "uint16"),  # fix: index=b.sbuf((32, 1), "uint16"),
)

#% local_gather.index
b = trnemu.ProgramBuilder(target="trn2")
t, index = b.sbuf((16, 64), "float32"), b.sbuf((16, 1), "uint16")
b.memset(dst=t, value=1.0)
b.memset(dst=index, value=64)  # fix: b.memset(dst=index, value=63)
b.local_gather(dst=b.sbuf((16, 16), "float32"), src_buffer=t, index=index)
r = trnemu.run(b.build(), {})
