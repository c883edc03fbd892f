# Rules of tensor_tensor_scan. README.md says how this is read.

#% tensor_tensor_scan.both_in_psum
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor_scan(
    dst=b.sbuf((4, 1), "float32"),
    data0=b.psum((4, 1), "float32"),
    data1=b.psum((4, 1), "float32"),  # fix: data1=b.sbuf((4, 1), "float32"),
    initial=0,
    op0="add",
    op1="maximum",
)

#% tensor_tensor_scan.generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_tensor_scan(
    dst=b.sbuf((4, 1), "float32"),
    data0=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 1), "float32"),
    initial=0,
    op0="abs_max",
    op1="maximum",
)

#% tensor_tensor_scan.initial_shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor_scan(
    dst=b.sbuf((32, 33), "float32"),
    data0=b.sbuf((32, 33), "float32"),
    data1=b.sbuf((32, 33), "float32"),
    initial=b.sbuf((32, 2), "float32"),  # fix: initial=b.sbuf((32, 1), "float32"),
    op0="add",
    op1="maximum",
)

#% tensor_tensor_scan.shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor_scan(
    dst=b.sbuf((4, 1), "float32"),
    data0=b.sbuf((4, 1), "float32"),
    data1=b.sbuf((4, 8), "float32"),  # fix: data1=b.sbuf((4, 1), "float32"),
    initial=0,
    op0="maximum",
    op1="maximum",
)

#% tensor_tensor_scan.ops
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_tensor_scan(
    dst=b.sbuf((4, 8), "float32"),
    data0=b.sbuf((4, 8), "float32"),
    data1=b.sbuf((4, 8), "float32"),
    initial=0.0,
    op0="bitwise_and",  # fix: op0="multiply",
    op1="add",
)
