# Rules of exponential. README.md says how this is read.

#% exponential.indirect_data_index
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((16, 1), "float32"),
    src=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int16")[16:32], 1),  # fix: src=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int16"), 1),
)

#% exponential.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((16, 33), "float32"),
    src=b.sbuf((16, 33), "float32").indirect(b.sbuf((128, 3), "int32")[32:48], 33),  # fix: src=b.sbuf((16, 33), "float32").indirect(b.sbuf((16, 3), "int32"), 33),
    max_value=0,
)

#% exponential.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((128, 1), "int16")[16:32], 8),  # fix: dst=b.sbuf((16, 8), "float32").indirect(b.sbuf((16, 1), "int16"), 8),
    src=b.sbuf((16, 8), "float32"),
    max_value=0,
)

#% exponential.indirect_dst_start_psum
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "int32")[32:48], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "int32"), 1),
    src=b.psum((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    max_value=0,
)

#% exponential.indirect_dst_start_sbuf
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((128, 1), "uint16")[96:112], 1),  # fix: dst=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),
    src=b.sbuf((16, 1), "float32"),
    max_value=0,
)

#% exponential.indirect_max_value
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((32, 8), "float32"),
    src=b.sbuf((32, 8), "float32"),
    max_value=b.sbuf((32, 1), "float32").indirect(b.sbuf((128, 1), "int16")[16:48], 1),  # fix: max_value=b.sbuf((32, 1), "float32"),
)

#% exponential.indirect_reduce_init
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((16, 8), "float32"),
    src=b.sbuf((16, 8), "float32"),
    reduce_cmd="load_reduce",
    reduce_init=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),  # fix: reduce_init=b.sbuf((16, 1), "float32"),
)

#% exponential.indirect_reduce_res
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((16, 33), "float32"),
    src=b.sbuf((16, 33), "float32"),
    max_value=0,
    reduce_res=b.sbuf((16, 1), "float32").indirect(b.sbuf((16, 1), "uint16"), 1),  # fix: reduce_res=b.sbuf((16, 1), "float32"),
)

#% exponential.max_value
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
    max_value=b.sbuf((4, 3), "float32"),  # fix: max_value=b.sbuf((4, 1), "float32"),
)

#% exponential.rank
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 2, 1, 2, 2), "float32"),  # fix: src=b.sbuf((4, 8), "float32"),
    max_value=0,
)

#% exponential.reduce_cmd
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
    max_value=0,
    reduce_cmd="reset",  # fix: leave out
)

#% exponential.reduce_init
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    reduce_init=b.sbuf((4, 1), "float32"),  # fix: leave out
)

#% exponential.reduce_init_shape
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((32, 1), "float32"),
    src=b.sbuf((32, 1), "float32"),
    reduce_cmd="load_reduce",
    reduce_init=b.sbuf((32, 2), "float32"),  # fix: reduce_init=b.sbuf((32, 1), "float32"),
)

#% exponential.reduce_res_shape
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
    max_value=0,
    reduce_res=b.sbuf((4, 2), "float32"),  # fix: reduce_res=b.sbuf((4, 1), "float32"),
)

#% exponential.shape
b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
)

#% exponential.indirect_engine
#! exponential runs on the vector engine alone; opcode.engine is reported first of a program file that says otherwise.

#% exponential.generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.exponential(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
)
