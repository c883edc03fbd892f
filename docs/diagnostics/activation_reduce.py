# Rules of activation_reduce. README.md says how this is read.

#% activation_reduce.bias_immediate
b = trnemu.ProgramBuilder(target="trn1")
b.activation_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="sqrt",
    bias=0.0,  # fix: leave out
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.bias_shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="arctan",
    bias=b.sbuf((4, 2), "float32"),  # fix: bias=b.sbuf((4, 1), "float32"),
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_bias
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32"),
    op="softplus",
    bias=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),  # fix: bias=b.sbuf((16, 1), "float32"),
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.activation_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[16:32], 1),  # fix: data=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    op="gelu_apprx_sigmoid",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.activation_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[96:112], 1),  # fix: data=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),
    op="abs",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.activation_reduce(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[16:32], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    data=b.sbuf((16, 1), "float32"),
    op="erf_dx",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_dst_psum
b = trnemu.ProgramBuilder(target="trn3")
b.activation_reduce(
    dst=b.psum((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    data=b.sbuf((16, 1), "float32"),
    op="copy",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.activation_reduce(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "int32")[32:48], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int32"), 8),
    data=b.psum((16, 8), "float32").indirect(b.sbuf((16, 1), "int32"), 8),
    op="exp",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.activation_reduce(
    dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((128, 3), "int32")[64:80], 33),  # fix: dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((16, 3), "int32"), 33),
    data=b.sbuf((16, 33), "float32"),
    op="exp",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.activation_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    op="sin",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_reduce_res
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32"),
    op="log",
    reduce_op="add",
    reduce_res=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),  # fix: reduce_res=b.sbuf((16, 1), "float32"),
)

#% activation_reduce.indirect_scale
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32"),
    op="log",
    scale=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[96:112], 1),  # fix: scale=b.sbuf((16, 1), "float32"),
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.reciprocal_bias
b = trnemu.ProgramBuilder(target="trn1")
b.activation_reduce(
    dst=b.sbuf((32, 8), "float32"),
    data=b.sbuf((32, 8), "float32"),
    op="reciprocal",
    bias=b.sbuf((32, 1), "float32"),  # fix: leave out
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.reduce_op
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op="erf",
    reduce_op="maximum",  # fix: reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.reduce_op_gen2
b = trnemu.ProgramBuilder(target="trn1")
b.activation_reduce(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="prelu",
    reduce_op="maximum",  # fix: reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.reduce_res_shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="gelu_apprx_sigmoid_dx",
    reduce_op="add",
    reduce_res=b.sbuf((4, 2), "float32"),  # fix: reduce_res=b.sbuf((4, 1), "float32"),
)

#% activation_reduce.scale_partitions
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="mish",
    scale=b.sbuf((6, 1), "float32"),  # fix: leave out
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.scale_shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="gelu_apprx_tanh",
    scale=b.sbuf((4, 3), "float32"),  # fix: scale=b.sbuf((4, 1), "float32"),
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.shape
b = trnemu.ProgramBuilder(target="trn2")
b.activation_reduce(
    dst=b.sbuf((32, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op="copy",
    reduce_op="add",
    reduce_res=None,
)

#% activation_reduce.indirect_engine
#! activation_reduce runs on the scalar engine alone; opcode.engine is reported first of a program file that says otherwise.
