# Rules of tensor_scalar_reduce. README.md says how this is read.

#% tensor_scalar_reduce.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[16:32], 1),  # fix: data=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),
    op0="greater",
    operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[32:48], 1),  # fix: data=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    op0="greater",
    operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_reduce(
    dst=b.sbuf((32, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[16:48], 1),  # fix: dst=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "uint16"), 1),
    data=b.sbuf((32, 1), "float32"),
    op0="add",
    operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_reduce(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[32:48], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    data=b.psum((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    op0="maximum",
    operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_reduce(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[96:112], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    data=b.sbuf((16, 1), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="add",
)

#% tensor_scalar_reduce.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_reduce(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    op0="greater",
    operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.indirect_operand0
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32"),
    op0="greater",
    operand0=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),  # fix: operand0=b.sbuf((16, 1), "float32"),
    reduce_op="maximum",
)

#% tensor_scalar_reduce.indirect_reduce_init
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="maximum",
    reduce_cmd="load_reduce",
    reduce_init=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),  # fix: reduce_init=b.sbuf((16, 1), "float32"),
)

#% tensor_scalar_reduce.indirect_reduce_res
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((32, 8), "float32"),
    data=b.sbuf((32, 8), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="maximum",
    reduce_res=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "int16"), 1),  # fix: reduce_res=b.sbuf((32, 1), "float32"),
)

#% tensor_scalar_reduce.negate
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="multiply",
    operand0=0.0,
    reduce_op="maximum",
    reduce_res_negate=True,  # fix: leave out
)

#% tensor_scalar_reduce.op0
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="invert",  # fix: op0="power",
    operand0=0,
    reduce_op="multiply",
)

#% tensor_scalar_reduce.op0_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="relu",
    operand0=0.0,
    reduce_op="add",
)

#% tensor_scalar_reduce.operand0_missing
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op0="greater",
    operand0=None,  # fix: operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.operand_shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op0="greater",
    operand0=b.sbuf((4, 2), "float32"),  # fix: operand0=b.sbuf((4, 1), "float32"),
    reduce_op="multiply",
)

#% tensor_scalar_reduce.reduce_cmd
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="multiply",
    reduce_cmd="idle",  # fix: leave out
)

#% tensor_scalar_reduce.reduce_init
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="add",
    reduce_init=0,  # fix: leave out
)

#% tensor_scalar_reduce.reduce_op
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="bitwise_or",  # fix: reduce_op="maximum",
)

#% tensor_scalar_reduce.reduce_res_shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="greater",
    operand0=0,
    reduce_op="multiply",
    reduce_res=b.sbuf((4, 2), "float32"),  # fix: reduce_res=b.sbuf((4, 1), "float32"),
)

#% tensor_scalar_reduce.reverse0
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="maximum",
    reverse0=True,  # fix: leave out
)

#% tensor_scalar_reduce.shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((4, 8), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="greater",
    operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.unary_operand
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar_reduce(
    dst=b.sbuf((64, 1), "float32"),
    data=b.sbuf((64, 1), "float32"),
    op0="rsqrt",
    operand0=1.0,  # fix: operand0=0.0,
    reduce_op="maximum",
)

#% tensor_scalar_reduce.indirect_engine
#! tensor_scalar_reduce runs on the vector engine alone; opcode.engine is reported first of a program file that says otherwise.
