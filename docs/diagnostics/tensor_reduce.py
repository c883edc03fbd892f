# Rules of tensor_reduce. README.md says how this is read.

#% tensor_reduce.axis
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="add",
    axis=0,  # fix: axis=1,
)

#% tensor_reduce.bitvec_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="bitwise_and",  # fix: op="maximum",
    axis=(-1,),
)

#% tensor_reduce.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_reduce(
    dst=b.sbuf((4, 2), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="maximum",
    axis=(1,),
)

#% tensor_reduce.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_reduce(
    dst=b.sbuf((64, 1), "float32"),
    data=b.sbuf((64, 8), "float32").indirect(b.sbuf((128, 1), "int16")[16:80], 8),  # fix: data=b.sbuf((64, 8), "float32").indirect(b.sbuf((64, 1), "int16"), 8),
    op="add",
    axis=-1,
)

#% tensor_reduce.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_reduce(
    dst=b.sbuf((64, 1), "float32"),
    data=b.sbuf((64, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[32:96], 8),  # fix: data=b.sbuf((64, 8), "float32").indirect(b.sbuf((64, 1), "uint16"), 8),
    op="add",
    axis=-1,
)

#% tensor_reduce.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_reduce(
    dst=b.sbuf((64, 1), "float32").indirect(b.sbuf((128, 1), "int16")[16:80], 1),  # fix: dst=b.sbuf((64, 1), "float32").indirect(b.sbuf((64, 1), "int16"), 1),
    data=b.sbuf((64, 8), "float32"),
    op="maximum",
    axis=1,
)

#% tensor_reduce.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_reduce(
    dst=b.sbuf((64, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[64:128], 1),  # fix: dst=b.sbuf((64, 1), "float32").indirect(b.sbuf((64, 1), "uint16"), 1),
    data=b.psum((64, 8), "float32").indirect(b.sbuf((64, 1), "int16"), 8),
    op="add",
    axis=(1,),
)

#% tensor_reduce.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_reduce(
    dst=b.sbuf((64, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[64:128], 1),  # fix: dst=b.sbuf((64, 1), "float32").indirect(b.sbuf((64, 1), "uint16"), 1),
    data=b.sbuf((64, 8), "float32"),
    op="maximum",
    axis=1,
)

#% tensor_reduce.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_reduce(
    dst=b.sbuf((64, 1), "float32").indirect(b.sbuf((64, 1), "uint16"), 1),
    data=b.sbuf((64, 8), "float32"),
    op="maximum",
    axis=(1,),
)

#% tensor_reduce.negate
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="bitwise_xor",  # fix: op="maximum",
    axis=(-1,),
    negate=True,
)

#% tensor_reduce.op
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="rsqrt",  # fix: op="maximum",
    axis=1,
)

#% tensor_reduce.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_reduce(
    dst=b.sbuf((3, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "uint32"),
    data=b.sbuf((4, 8), "float32"),
    op="maximum",
    axis=(1,),
)

#% tensor_reduce.indirect_engine
#! tensor_reduce runs on the vector engine alone; opcode.engine is reported first of a program file that says otherwise.

#% tensor_reduce.subtract
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1.0)
b.tensor_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=t,
    op="subtract",  # fix: op="add",
    axis=1,
)
r = trnemu.run(b.build(), {})
