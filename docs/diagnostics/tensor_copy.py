# Rules of tensor_copy. README.md says how this is read.

#% tensor_copy.engine
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    engine="tensor",  # fix: leave out
)

#% tensor_copy.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 8), "float32"),
    src=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[16:32], 8),  # fix: src=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
)

#% tensor_copy.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 1), "float32"),
    src=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[96:112], 1),  # fix: src=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
)

#% tensor_copy.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[16:32], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    src=b.sbuf((16, 1), "float32"),
)

#% tensor_copy.indirect_dst_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.psum((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    src=b.sbuf((16, 1), "float32"),
    engine="scalar",
)

#% tensor_copy.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((128, 3), "int32")[96:112], 33),  # fix: dst=b.sbuf((16, 33), "float32").indirect(b.sbuf((16, 3), "int32"), 33),
    src=b.psum((16, 33), "float32").indirect(b.sbuf((16, 3), "uint16"), 33),
)

#% tensor_copy.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "uint16")[32:48], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    src=b.sbuf((16, 8), "float32"),
)

#% tensor_copy.indirect_engine
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 8), "float32"),
    src=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "uint16"), 8),
    engine="gpsimd",  # fix: leave out
)

#% tensor_copy.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
    src=b.sbuf((16, 1), "float32"),
)

#% tensor_copy.packed_cast
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "float4_e2m1fn_x4"),
    src=b.sbuf((4, 1), "float4_e2m1fn_x4"),
)

#% tensor_copy.shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
)

#% tensor_copy.gpsimd_psum
#! operand.gpsimd_psum says the same of the operand, and is reported instead.
