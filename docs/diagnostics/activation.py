# Rules of activation. README.md says how this is read.

#% activation.bias_immediate
b = trnemu.ProgramBuilder(target="trn1")
b.activation(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="exp",
    bias=0,  # fix: leave out
)

#% activation.bias_shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((64, 8), "float32"),
    data=b.sbuf((64, 8), "float32"),
    op="copy",
    bias=b.sbuf((64, 2), "float32"),  # fix: bias=b.sbuf((64, 1), "float32"),
)

#% activation.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((4, 9), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="exp",
)

#% activation.indirect_bias
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((32, 1), "float32"),
    data=b.sbuf((32, 1), "float32"),
    op="exp",
    bias=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "uint16"), 1),  # fix: bias=b.sbuf((32, 1), "float32"),
)

#% activation.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.activation(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "int32")[16:32], 8),  # fix: data=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int32"), 8),
    op="exp",
)

#% activation.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.activation(
    dst=b.sbuf((32, 1), "float32"),
    data=b.sbuf((32, 1), "float32").indirect(b.sbuf((128, 1), "int16")[64:96], 1),  # fix: data=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "int16"), 1),
    op="exp",
)

#% activation.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.activation(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[16:32], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    data=b.sbuf((16, 8), "float32"),
    op="exp",
)

#% activation.indirect_dst_psum
b = trnemu.ProgramBuilder(target="trn3")
b.activation(
    dst=b.psum((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    data=b.sbuf((16, 1), "float32"),
    op="exp",
)

#% activation.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.activation(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[64:80], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    data=b.psum((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    op="exp",
)

#% activation.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.activation(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[32:48], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    data=b.sbuf((16, 1), "float32"),
    op="exp",
)

#% activation.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.activation(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),
    data=b.sbuf((16, 1), "float32"),
    op="exp",
)

#% activation.indirect_reduce_res
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32"),
    op="exp",
    bias=0,
    reduce_res=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),  # fix: reduce_res=b.sbuf((16, 1), "float32"),
)

#% activation.indirect_scale
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((32, 1), "float32"),
    data=b.sbuf((32, 1), "float32"),
    op="exp",
    scale=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "int16"), 1),  # fix: scale=b.sbuf((32, 1), "float32"),
)

#% activation.reciprocal_bias
b = trnemu.ProgramBuilder(target="trn1")
b.activation(
    dst=b.sbuf((32, 1), "float32"),
    data=b.sbuf((32, 1), "float32"),
    op="reciprocal",
    bias=b.sbuf((32, 1), "float32"),  # fix: leave out
)

#% activation.reduce_cmd
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="exp",
    reduce_cmd="load_reduce",  # fix: leave out
)

#% activation.reduce_op
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="exp",
    reduce_op="maximum",  # fix: leave out
)

#% activation.reduce_res_shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((4, 33), "float32"),
    data=b.sbuf((4, 33), "float32"),
    op="exp",
    reduce_res=b.sbuf((4, 2), "float32"),  # fix: reduce_res=b.sbuf((4, 1), "float32"),
)

#% activation.scale_shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="exp",
    scale=b.sbuf((4, 2), "float32"),  # fix: scale=b.sbuf((4, 1), "float32"),
)

#% activation.shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((32, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="exp",
    bias=0.0,
)

#% activation.indirect_engine
#! activation runs on the scalar engine alone; opcode.engine is reported first of a program file that says otherwise.

#% activation.accumulator_unset
b = trnemu.ProgramBuilder(target="trn2")
t, total = b.sbuf((4, 8), "float32"), b.sbuf((4, 1), "float32")
b.memset(dst=t, value=1.0)
b.activation(
    dst=t, op="exp", data=t, reduce_op="add", reduce_res=total,
    # fix: reduce_cmd="reset_reduce",
)
r = trnemu.run(b.build(), {})

#% activation.outside_valid_range
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=9.0)  # fix: b.memset(dst=t, value=9.0 - 2 * np.pi)
b.activation(dst=t, op="sin", data=t)
r = trnemu.run(b.build(), {})

#% activation.prelu_slope
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=-1.0)
b.activation(dst=t, op="prelu", data=t)  # fix: b.activation(dst=t, op="relu", data=t)
r = trnemu.run(b.build(), {})
