# Rules of tensor_scalar_cumulative. README.md says how this is read.

#% tensor_scalar_cumulative.imm1_missing
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    op0="add",
    op1="maximum",
    imm0=0,
    reduce_cmd="load_reduce",
    # fix: imm1=0,
)

#% tensor_scalar_cumulative.imm1_partitions
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
    op0="greater",
    op1="multiply",
    imm0=0,
    imm1=b.sbuf((3, 1), "float32"),  # fix: leave out
)

#% tensor_scalar_cumulative.immediates
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    op0="add",
    op1="multiply",
    imm0=0,
    imm1=b.sbuf((4, 2), "float32"),  # fix: imm1=b.sbuf((4, 1), "float32"),
)

#% tensor_scalar_cumulative.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_cumulative(
    dst=b.sbuf((16, 1), "float32"),
    src=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[16:32], 1),  # fix: src=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    op0="add",
    op1="maximum",
    imm0=0,
)

#% tensor_scalar_cumulative.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_cumulative(
    dst=b.sbuf((16, 1), "float32"),
    src=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[32:48], 1),  # fix: src=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    op0="multiply",
    op1="add",
    imm0=0,
)

#% tensor_scalar_cumulative.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_cumulative(
    dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((128, 3), "uint16")[16:32], 33),  # fix: dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((16, 3), "uint16"), 33),
    src=b.sbuf((16, 33), "float32"),
    op0="add",
    op1="maximum",
    imm0=0,
)

#% tensor_scalar_cumulative.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_cumulative(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[64:80], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    src=b.psum((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    op0="maximum",
    op1="multiply",
    imm0=0,
)

#% tensor_scalar_cumulative.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_cumulative(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[96:112], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    src=b.sbuf((16, 1), "float32"),
    op0="add",
    op1="maximum",
    imm0=0,
)

#% tensor_scalar_cumulative.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_cumulative(
    dst=b.sbuf((16, 8), "float32"),
    src=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int16"), 8),
    op0="greater",
    op1="maximum",
    imm0=0.0,
)

#% tensor_scalar_cumulative.indirect_imm0
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((16, 33), "float32"),
    src=b.sbuf((16, 33), "float32"),
    op0="add",
    op1="maximum",
    imm0=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),  # fix: imm0=b.sbuf((16, 1), "float32"),
)

#% tensor_scalar_cumulative.indirect_imm1
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((32, 8), "float32"),
    src=b.sbuf((32, 8), "float32"),
    op0="multiply",
    op1="add",
    imm0=0,
    imm1=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "uint16"), 1),  # fix: imm1=b.sbuf((32, 1), "float32"),
)

#% tensor_scalar_cumulative.op0
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    op0="bitwise_and",  # fix: op0="less",
    op1="maximum",
    imm0=0,
)

#% tensor_scalar_cumulative.op0_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
    op0="relu",
    op1="multiply",
    imm0=0.0,
)

#% tensor_scalar_cumulative.op1
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    op0="add",
    op1="logical_or",  # fix: op1="maximum",
    imm0=0,
)

#% tensor_scalar_cumulative.reduce_cmd
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    op0="add",
    op1="maximum",
    imm0=0.0,
    reduce_cmd="idle",  # fix: leave out
)

#% tensor_scalar_cumulative.shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 2), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    op0="add",
    op1="add",
    imm0=0.0,
)

#% tensor_scalar_cumulative.unary_operand
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    op0="reciprocal",
    op1="add",
    imm0=-3.0,  # fix: imm0=0,
)

#% tensor_scalar_cumulative.indirect_engine
#! tensor_scalar_cumulative runs on the vector engine alone; opcode.engine is reported first of a program file that says otherwise.

#% tensor_scalar_cumulative.integers32
#! operand.dtype is reported first.

#% tensor_scalar_cumulative.tfloat32
#! operand.dtype is reported first.

#% tensor_scalar_cumulative.imm1_unused
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_cumulative(
    src=b.sbuf((4, 8), "float32"),
    dst=b.sbuf((4, 8), "float32"),
    op0="multiply",
    op1="add",
    imm0=2.0,
    imm1=1.0,  # fix: leave out
    reduce_cmd="reset_reduce",
)
