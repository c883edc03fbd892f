# Diagnostics of operand. README.md says how this is read.

#% operand.buffer
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy(
    dst=b.sbuf((4, 8), "float32"),
    src=b.input("x", (4, 8), "float32"),  # fix: src=b.sbuf((4, 8), "float32"),
)

#% operand.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((32, 4), "int32"),  # fix: stationary=b.sbuf((32, 4), "bfloat16"),
    moving=b.sbuf((32, 8), "bfloat16"),
)

#% operand.value
b = trnemu.ProgramBuilder(target="trn2")
b.activation(
    dst=b.sbuf((4, 8), "float32"),
    op="softmax",  # fix: op="exp",
    data=b.sbuf((4, 8), "float32"),
)

#% operand.start_partition
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy(
    dst=b.sbuf((36, 8), "float32"),
    src=b.sbuf((128, 8), "float32")[48:84],  # fix: src=b.sbuf((128, 8), "float32")[64:100],
)

#% operand.count
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 65536, 1), "uint8")
b.tensor_copy(
    dst=b.sbuf((4, 65536, 2), "uint8")[:, :, 0:1],  # fix: dst=b.sbuf((4, 65536), "uint8").reshape(4, 65536, 1),
    src=t,
)

#% operand.step
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy(
    dst=b.sbuf((4, 2), "uint8"),
    src=b.sbuf((4, 2, 40000), "uint8")[:, :, 0],  # fix: src=b.sbuf((4, 2, 32767), "uint8")[:, :, 0],
)

#% operand.sbuf_free_size
b = trnemu.ProgramBuilder(target="trn2")
b.memset(
    dst=b.sbuf((4, 65537), "uint8"),  # fix: dst=b.sbuf((4, 65536), "uint8"),
    value=0,
)

#% operand.psum_free_size
b = trnemu.ProgramBuilder(target="trn2")
b.memset(
    dst=b.psum((4, 4097), "uint8"),  # fix: dst=b.psum((4, 4096), "uint8"),
    value=0,
)

#% operand.gpsimd_psum
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy(
    dst=b.sbuf((4, 8), "float32"),
    src=b.psum((4, 8), "float32"),
    engine="gpsimd",  # fix: engine="vector",
)

#% operand.indirect
b = trnemu.ProgramBuilder(target="trn3")
b.reciprocal(
    dst=b.sbuf((16, 8), "float32"),
    data=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),  # fix: data=b.sbuf((16, 8), "float32"),
)

#% operand.index_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(
    dst=b.sbuf((4, 8), "float32"),
    src=b.scratch("rows", (9, 8), "float32").vector_select(0, b.sbuf((4, 1), "int16")),  # fix: src=b.scratch("rows", (9, 8), "float32").vector_select(0, b.sbuf((4, 1), "int32")),
)

#% operand.index_count
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 17), "float32"),
    src=b.sbuf((16, 32), "float32").indirect(b.sbuf((16, 1), "uint16"), 17),  # fix: src=b.sbuf((16, 32), "float32").indirect(b.sbuf((16, 2), "uint16"), 17),
)

#% operand.overlap
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((8, 24), "float32")
b.memset(dst=t, value=1.0)
b.tensor_copy(dst=t[:, 1:24], src=t[:, 0:23])  # fix: b.tensor_copy(dst=t[:, 0:23], src=t[:, 1:24])
r = trnemu.run(b.build(), {})
