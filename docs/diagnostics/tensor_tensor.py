# Rules of tensor_tensor. README.md says how this is read.

#% tensor_tensor.abs_max_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    data2=b.sbuf((4, 1), "float32"),
    op="abs_min",
)

#% tensor_tensor.bitvec
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    data2=b.sbuf((4, 1), "float32"),
    op="right_shift",  # fix: op="multiply",
)

#% tensor_tensor.both_in_psum
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data1=b.psum((4, 1), "float32"),
    data2=b.psum((4, 1), "float32"),  # fix: data2=b.sbuf((4, 1), "float32"),
    op="multiply",
)

#% tensor_tensor.engine
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    data2=b.sbuf((4, 1), "float32"),
    op="greater",
    engine="tensor",  # fix: leave out
)

#% tensor_tensor.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    data2=b.sbuf((4, 8), "float32"),  # fix: data2=b.sbuf((4, 1), "float32"),
    op="multiply",
)

#% tensor_tensor.indirect_data2
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((16, 8), "float32"),
    data1=b.sbuf((16, 8), "float32"),
    data2=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),  # fix: data2=b.sbuf((16, 8), "float32"),
    op="multiply",
)

#% tensor_tensor.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_tensor(
    dst=b.sbuf((16, 1), "float32"),
    data1=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[16:32], 1),  # fix: data1=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    data2=b.sbuf((16, 1), "float32"),
    op="maximum",
)

#% tensor_tensor.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_tensor(
    dst=b.sbuf((16, 1), "float32"),
    data1=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[32:48], 1),  # fix: data1=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),
    data2=b.sbuf((16, 1), "float32"),
    op="multiply",
)

#% tensor_tensor.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_tensor(
    dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((128, 3), "uint16")[16:32], 33),  # fix: dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((16, 3), "uint16"), 33),
    data1=b.sbuf((16, 33), "float32"),
    data2=b.sbuf((16, 33), "float32"),
    op="greater",
)

#% tensor_tensor.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_tensor(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[64:80], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),
    data1=b.psum((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    data2=b.sbuf((16, 1), "float32"),
    op="multiply",
)

#% tensor_tensor.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_tensor(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "int16")[96:112], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int16"), 8),
    data1=b.sbuf((16, 8), "float32"),
    data2=b.sbuf((16, 8), "float32"),
    op="greater",
)

#% tensor_tensor.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((16, 1), "float32"),
    data1=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[96:112], 1),  # fix: data1=b.sbuf((16, 1), "float32"),
    data2=b.sbuf((16, 1), "float32"),
    op="multiply",
)

#% tensor_tensor.op
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    data2=b.sbuf((4, 1), "float32"),
    op="square",  # fix: op="multiply",
)

#% tensor_tensor.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((32, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    data2=b.sbuf((4, 1), "float32"),
    op="multiply",
)

#% tensor_tensor.power_engine
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    data2=b.sbuf((4, 1), "float32"),
    op="power",
    engine="vector",  # fix: leave out
)

#% tensor_tensor.indirect_engine
#! tensor_tensor.engine is reported first.

#% tensor_tensor.gpsimd_psum
#! operand.gpsimd_psum says the same of the operand, and is reported instead.
