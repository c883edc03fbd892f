# Rules of activate2. README.md says how this is read.

#% activate2.free_size
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 33), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0,
    op0="multiply",
    op1="add",
)

#% activate2.generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
)

#% activate2.immediates_shape
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 33), "float32"),
    data=b.sbuf((16, 33), "float32"),
    op="copy",
    imm0=b.sbuf((16, 2), "float32"),  # fix: imm0=b.sbuf((16, 1), "float32"),
    imm1=0.0,
    op0="multiply",
    op1="add",
)

#% activate2.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "int16")[16:32], 8),  # fix: data=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int16"), 8),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
)

#% activate2.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[64:80], 8),  # fix: data=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    op="copy",
    imm0=0.0,
    imm1=0,
    op0="multiply",
    op1="add",
)

#% activate2.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((128, 3), "int16")[16:32], 33),  # fix: dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((16, 3), "int16"), 33),
    data=b.sbuf((16, 33), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
)

#% activate2.indirect_dst_psum
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.psum((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    data=b.sbuf((16, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="add",
    op1="bypass",
)

#% activate2.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "int32")[64:80], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int32"), 8),
    data=b.psum((16, 8), "float32").indirect(b.sbuf((16, 1), "int16"), 8),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
)

#% activate2.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[64:80], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),
    data=b.sbuf((16, 1), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
)

#% activate2.indirect_imm0
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 33), "float32"),
    data=b.sbuf((16, 33), "float32"),
    op="copy",
    imm0=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[32:48], 1),  # fix: imm0=b.sbuf((16, 1), "float32"),
    imm1=0.0,
    op0="multiply",
    op1="add",
)

#% activate2.indirect_imm1
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32"),
    op="copy",
    imm0=0.0,
    imm1=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),  # fix: imm1=b.sbuf((16, 1), "float32"),
    op0="multiply",
    op1="add",
)

#% activate2.indirect_reduce_res
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="add",
    op1="bypass",
    reduce_res=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),  # fix: reduce_res=b.sbuf((16, 1), "float32"),
)

#% activate2.indirect_relu_param
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 33), "float32"),
    data=b.sbuf((16, 33), "float32"),
    op="copy",
    imm0=0,
    imm1=0.0,
    op0="multiply",
    op1="add",
    relu_param=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),  # fix: relu_param=b.sbuf((16, 1), "float32"),
)

#% activate2.ops
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="multiply",  # fix: op1="bypass",
)

#% activate2.reduce_cmd
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
    reduce_cmd="load_reduce",  # fix: leave out
)

#% activate2.reduce_op
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    imm0=0,
    imm1=0.0,
    op0="multiply",
    op1="add",
    reduce_op="multiply",  # fix: leave out
)

#% activate2.reduce_op_missing
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
    reduce_cmd="reset_reduce",  # fix: leave out
)

#% activate2.reduce_res_shape
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
    reduce_res=b.sbuf((4, 3), "float32"),  # fix: reduce_res=b.sbuf((4, 1), "float32"),
)

#% activate2.relu_param_shape
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 33), "float32"),
    data=b.sbuf((4, 33), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0.0,
    op0="multiply",
    op1="add",
    relu_param=b.sbuf((4, 3), "float32"),  # fix: relu_param=b.sbuf((4, 1), "float32"),
)

#% activate2.reverse
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0,
    op0="add",
    op1="bypass",
    reverse1=True,  # fix: leave out
)

#% activate2.shape
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((16, 8), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    imm0=0.0,
    imm1=0,
    op0="multiply",
    op1="add",
)

#% activate2.immediates_dtype
#! operand.dtype is reported first: each immediate is float32.

#% activate2.indirect_engine
#! activate2 runs on the scalar engine alone; opcode.engine is reported first of a program file that says otherwise.

#% activate2.relu_param_unused
b = trnemu.ProgramBuilder(target="trn3")
b.activate2(
    dst=b.sbuf((4, 8), "float32"),
    op="relu",
    data=b.sbuf((4, 8), "float32"),
    imm0=1.0,
    op0="multiply",
    imm1=0.0,
    op1="add",
    relu_param=0.5,  # fix: leave out
)
