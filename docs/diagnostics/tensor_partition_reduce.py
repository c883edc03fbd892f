# Rules of tensor_partition_reduce. README.md says how this is read.

#% tensor_partition_reduce.bitvec_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_partition_reduce(
    dst=b.sbuf((1, 1), "float32"),
    op="bitwise_and",  # fix: op="maximum",
    data=b.sbuf((4, 1), "float32"),
)

#% tensor_partition_reduce.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_partition_reduce(
    dst=b.sbuf((1, 8), "float32"),  # fix: dst=b.sbuf((1, 1), "float32"),
    op="add",
    data=b.sbuf((4, 1), "float32"),
)
