# Rules of tensor_scalar. README.md says how this is read.

#% tensor_scalar.bitvec_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op0="left_shift",  # fix: op0="greater_equal",
    operand0=0.0,
)

#% tensor_scalar.bitvec_engine
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="bitwise_xor",  # fix: op0="add",
    operand0=0.0,
    engine="scalar",
)

#% tensor_scalar.bitvec_operand
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((16, 8), "int32"),
    data=b.sbuf((16, 8), "int16"),
    op0="bitwise_or",
    operand0=0.5,  # fix: operand0=0.0,
)

#% tensor_scalar.engine
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="greater",
    operand0=0.0,
    engine="tensor",  # fix: leave out
)

#% tensor_scalar.gpsimd_op
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op0="add",
    operand0=0.0,
    engine="gpsimd",  # fix: leave out
)

#% tensor_scalar.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[16:32], 1),  # fix: data=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    op0="add",
    operand0=0.0,
)

#% tensor_scalar.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[64:80], 8),  # fix: data=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    op0="add",
    operand0=0.0,
)

#% tensor_scalar.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[16:32], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    data=b.sbuf((16, 8), "float32"),
    op0="maximum",
    operand0=0.0,
)

#% tensor_scalar.indirect_dst_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.psum((32, 1), "float32").indirect(b.sbuf((32, 1), "int32"), 1),  # fix: dst=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "int32"), 1),
    data=b.sbuf((32, 1), "float32"),
    op0="multiply",
    operand0=0.0,
    engine="scalar",
)

#% tensor_scalar.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((32, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[96:128], 1),  # fix: dst=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "uint16"), 1),
    data=b.psum((32, 1), "float32").indirect(b.sbuf((32, 1), "int32"), 1),
    op0="add",
    operand0=0.0,
)

#% tensor_scalar.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[32:48], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    data=b.sbuf((16, 1), "float32"),
    op0="add",
    operand0=0.0,
)

#% tensor_scalar.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[16:32], 1),  # fix: data=b.sbuf((16, 1), "float32"),
    op0="maximum",
    operand0=0.0,
)

#% tensor_scalar.indirect_int32
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((16, 1), "uint32"),  # fix: dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "int32").indirect(b.sbuf((16, 1), "int32"), 1),
    op0="add",
    operand0=0.0,
)

#% tensor_scalar.indirect_operand0
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32"),
    op0="add",
    operand0=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[32:48], 1),  # fix: operand0=b.sbuf((16, 1), "float32"),
)

#% tensor_scalar.indirect_operand1
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((32, 1), "float32"),
    data=b.sbuf((32, 1), "float32"),
    op0="add",
    operand0=0.0,
    op1="maximum",
    operand1=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "int32"), 1),  # fix: operand1=b.sbuf((32, 1), "float32"),
)

#% tensor_scalar.invert_operand
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((16, 33), "int16"),
    data=b.sbuf((16, 33), "uint8"),
    op0="invert",
    operand0=3,  # fix: leave out
    op1="right_shift",
    operand1=5,
)

#% tensor_scalar.mixed_kinds
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="add",
    operand0=0,
    op1="bitwise_xor",  # fix: op1="greater",
    operand1=5,
)

#% tensor_scalar.op0_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="square",
)

#% tensor_scalar.op1_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((16, 1), "float32"),
    data=b.sbuf((16, 1), "float32"),
    op0="add",
    operand0=0.0,
    op1="abs_min",
    operand1=b.sbuf((16, 1), "float32"),
)

#% tensor_scalar.operand0_missing
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="multiply",
    # fix: operand0=0.0,
)

#% tensor_scalar.operand1_missing
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="add",
    operand0=0.0,
    operand1=1.0,  # fix: leave out
)

#% tensor_scalar.operand_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="rsqrt",
    op1="greater",
    operand1=b.sbuf((4, 1), "float8_e4m3fn"),  # fix: operand1=b.sbuf((4, 1), "float32"),
)

#% tensor_scalar.operand_shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="add",
    operand0=b.sbuf((4, 2), "float32"),  # fix: operand0=b.sbuf((4, 1), "float32"),
)

#% tensor_scalar.scalar_engine_generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="multiply",
    operand0=0.0,
    engine="scalar",
)

#% tensor_scalar.scalar_engine_pairs
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="maximum",  # fix: op0="add",
    operand0=0,
    engine="scalar",
)

#% tensor_scalar.shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 33), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="add",
    operand0=0.0,
)

#% tensor_scalar.unary_operand
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_scalar(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="rsqrt",
    operand0=-3.0,  # fix: leave out
)

#% tensor_scalar.indirect_engine
#! tensor_scalar.engine is reported first.

#% tensor_scalar.gpsimd_psum
#! operand.gpsimd_psum says the same of the operand, and is reported instead.
