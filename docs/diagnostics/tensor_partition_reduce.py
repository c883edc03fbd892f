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

#% tensor_partition_reduce.int32
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "int32")
b.memset(dst=t, value=2**24)  # fix: b.memset(dst=t, value=2**20)
b.tensor_partition_reduce(dst=b.sbuf((1, 8), "int32"), op="maximum", data=t)
r = trnemu.run(b.build(), {})
