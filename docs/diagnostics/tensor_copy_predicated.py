# Rules of tensor_copy_predicated. README.md says how this is read.

#% tensor_copy_predicated.both_in_psum
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy_predicated(
    dst=b.sbuf((4, 1), "float32"),
    src=b.psum((4, 1), "float32"),
    predicate=b.psum((4, 1), "uint16"),  # fix: predicate=b.sbuf((4, 1), "uint16"),
)

#% tensor_copy_predicated.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy_predicated(
    dst=b.sbuf((4, 1), "int8"),
    src=b.sbuf((4, 1), "float32"),  # fix: src=b.sbuf((4, 1), "int8"),
    predicate=b.sbuf((4, 1), "uint16"),
)

#% tensor_copy_predicated.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy_predicated(
    dst=b.sbuf((16, 8), "float32"),
    src=0,
    predicate=b.sbuf((16, 8), "uint16").indirect(b.sbuf((128, 1), "int16")[16:32], 8),  # fix: predicate=b.sbuf((16, 8), "uint16").indirect(b.sbuf((16, 1), "int16"), 8),
)

#% tensor_copy_predicated.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy_predicated(
    dst=b.sbuf((16, 8), "float32"),
    src=0,
    predicate=b.sbuf((16, 8), "uint8").indirect(b.sbuf((128, 1), "uint16")[32:48], 8),  # fix: predicate=b.sbuf((16, 8), "uint8").indirect(b.sbuf((16, 1), "uint16"), 8),
)

#% tensor_copy_predicated.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy_predicated(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[16:32], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    src=0,
    predicate=b.sbuf((16, 1), "uint8"),
)

#% tensor_copy_predicated.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy_predicated(
    dst=b.sbuf((32, 1), "float32").indirect(b.sbuf((128, 1), "int16")[96:128], 1),  # fix: dst=b.sbuf((32, 1), "float32").indirect(b.sbuf((32, 1), "int16"), 1),
    src=0,
    predicate=b.psum((32, 1), "uint8").indirect(b.sbuf((32, 1), "int16"), 1),
)

#% tensor_copy_predicated.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy_predicated(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "int32")[96:112], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int32"), 8),
    src=0,
    predicate=b.sbuf((16, 8), "uint8"),
)

#% tensor_copy_predicated.indirect_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.tensor_copy_predicated(
    dst=b.sbuf((16, 8), "float32"),
    src=0,
    predicate=b.sbuf((16, 8), "uint8").indirect(b.sbuf((16, 1), "int16"), 8),
)

#% tensor_copy_predicated.indirect_src
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy_predicated(
    dst=b.sbuf((16, 1), "float32"),
    src=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),  # fix: src=b.sbuf((16, 1), "float32"),
    predicate=b.sbuf((16, 1), "uint32"),
)

#% tensor_copy_predicated.shape
b = trnemu.ProgramBuilder(target="trn2")
b.tensor_copy_predicated(
    dst=b.sbuf((4, 8), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    src=0,
    predicate=b.sbuf((4, 1), "uint8"),
)

#% tensor_copy_predicated.indirect_engine
#! tensor_copy_predicated runs on the vector engine alone; opcode.engine is reported first of a program file that says otherwise.
