# Rules of scalar_tensor_tensor. README.md says how this is read.

#% scalar_tensor_tensor.both_in_psum
b = trnemu.ProgramBuilder(target="trn2")
b.scalar_tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data=b.psum((4, 8), "float32"),  # fix: data=b.sbuf((4, 1), "float8_e4m3"),
    op0="add",
    operand0=0.0,
    op1="greater",
    operand1=b.psum((4, 1), "float32"),
)

#% scalar_tensor_tensor.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.scalar_tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="add",
    operand0=0,
    op1="greater",
    operand1=b.sbuf((4, 8), "float32"),  # fix: operand1=b.sbuf((4, 1), "float32"),
)

#% scalar_tensor_tensor.generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.scalar_tensor_tensor(
    dst=b.sbuf((4, 33), "float32"),
    data=b.sbuf((4, 33), "float32"),
    op0="square",
    operand0=0.0,
    op1="greater",
    operand1=b.sbuf((4, 33), "float32"),
)

#% scalar_tensor_tensor.operand0_shape
b = trnemu.ProgramBuilder(target="trn2")
b.scalar_tensor_tensor(
    dst=b.sbuf((64, 8), "float32"),
    data=b.sbuf((64, 8), "float32"),
    op0="add",
    operand0=b.sbuf((64, 3), "float32"),  # fix: operand0=b.sbuf((64, 1), "float32"),
    op1="multiply",
    operand1=b.sbuf((64, 8), "float32"),
)

#% scalar_tensor_tensor.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.scalar_tensor_tensor(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    op0="maximum",
    operand0=0,
    op1="greater",
    operand1=b.sbuf((1, 33), "float32"),  # fix: operand1=b.sbuf((4, 1), "float32"),
)

#% scalar_tensor_tensor.ops
b = trnemu.ProgramBuilder(target="trn2")
b.scalar_tensor_tensor(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    op0="bitwise_and",  # fix: op0="multiply",
    operand0=2.0,
    op1="add",
    operand1=b.sbuf((4, 8), "float32"),
)
