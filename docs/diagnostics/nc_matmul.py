# Rules of nc_matmul. README.md says how this is read.

#% nc_matmul.columns
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 129), "float32"),  # fix: stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.contraction
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((3, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),  # fix: moving=b.sbuf((3, 4), "float32"),
)

#% nc_matmul.double_row_columns
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 2, 4), "float8_e5m2"),
    moving=b.sbuf((4, 2, 4), "float8_e5m2"),
    perf_mode="double_row",
    tile_size=(128, 64),  # fix: leave out
)

#% nc_matmul.double_row_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),
    perf_mode="double_row",  # fix: leave out
)

#% nc_matmul.double_row_generation
b = trnemu.ProgramBuilder(target="trn1")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),
    perf_mode="double_row",  # fix: leave out
)

#% nc_matmul.double_row_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 2), "float8_e5m2"),  # fix: stationary=b.sbuf((4, 2, 4), "float8_e5m2"),
    moving=b.sbuf((4, 2, 4), "float8_e5m2"),
    perf_mode="double_row",
)

#% nc_matmul.dst_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float16"),  # fix: dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.dst_dtype_gen4
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((64, 4), "float16"),  # fix: dst=b.psum((64, 4), "float32"),
    stationary=b.sbuf((4, 64), "float32"),
    moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 3), "float32"),  # fix: stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.e4m3fn_generation
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float8_e4m3fn"),  # fix: moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.fp32_pairing
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((32, 4), "float32"),
    stationary=b.sbuf((4, 32), "float32"),
    moving=b.sbuf((4, 4), "float8_e5m2"),  # fix: moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.indirect_data_generation
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((64, 4), "float32"),
    stationary=b.sbuf((64, 64), "float32"),
    moving=b.sbuf((64, 4), "float32").indirect(b.sbuf((64, 1), "int16"), 4),  # fix: moving=b.sbuf((64, 4), "float32"),
)

#% nc_matmul.indirect_dst_generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((128, 4), "float32").indirect(b.sbuf((128, 1), "int16"), 4),
    stationary=b.sbuf((4, 128), "float32"),
    moving=b.sbuf((4, 4), "float32"),
    tile_position=(0, 0),
    tile_size=(64, 128),
)

#% nc_matmul.indirect_dst_index
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((32, 4), "float32").indirect(b.sbuf((128, 1), "int32")[16:48], 4),  # fix: dst=b.psum((32, 4), "float32").indirect(b.sbuf((32, 1), "int32"), 4),
    stationary=b.sbuf((1, 32), "float32"),
    moving=b.sbuf((1, 4), "float32"),
)

#% nc_matmul.indirect_dst_start
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((32, 512), "float32").indirect(b.sbuf((128, 32), "int16")[64:96], 512),  # fix: dst=b.psum((32, 512), "float32").indirect(b.sbuf((32, 32), "int16"), 512),
    stationary=b.sbuf((4, 32), "float32"),
    moving=b.sbuf((4, 512), "float32"),
)

#% nc_matmul.indirect_dtype
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((4, 32), "float32"),
    stationary=b.sbuf((32, 4), "float32").indirect(b.sbuf((32, 1), "uint16"), 4),  # fix: stationary=b.sbuf((32, 4), "float32"),
    moving=b.sbuf((32, 32), "float32"),
)

#% nc_matmul.indirect_moving_start
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((32, 4), "float32"),
    moving=b.sbuf((32, 4), "float32").indirect(b.sbuf((128, 1), "uint16")[64:96], 4),  # fix: moving=b.sbuf((32, 4), "float32"),
)

#% nc_matmul.indirect_stationary_start
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((4, 64), "float32"),
    stationary=b.sbuf((64, 4), "float32").indirect(b.sbuf((128, 1), "int32")[64:128], 4),  # fix: stationary=b.sbuf((64, 4), "float32"),
    moving=b.sbuf((64, 64), "float32"),
)

#% nc_matmul.indirect_tile_position
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((128, 4), "float32")[64:96].indirect(b.sbuf((128, 1), "int16")[64:96], 4),  # fix: dst=b.psum((128, 4), "float32")[64:96],
    stationary=b.sbuf((128, 32), "float32")[64:68],
    moving=b.sbuf((128, 4), "float32")[64:68],
    tile_position=(64, 64),
    tile_size=(64, 64),
)

#% nc_matmul.indirect_transpose
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32").indirect(b.sbuf((4, 1), "int32"), 4),  # fix: moving=b.sbuf((4, 4), "float32"),
    is_transpose=True,
    tile_position=(0, 0),
    tile_size=(64, 64),
)

#% nc_matmul.mixed_e4m3
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((32, 4), "float32"),
    stationary=b.sbuf((4, 32), "float8_e4m3fn"),
    moving=b.sbuf((4, 4), "float8_e4m3"),  # fix: moving=b.sbuf((4, 4), "float8_e4m3fn"),
)

#% nc_matmul.moving_free_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 513), "float32"),  # fix: moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.moving_free_size_fp32
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4097), "float32"),  # fix: moving=b.sbuf((4, 4), "float32"),
)

#% nc_matmul.rows
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((32, 4), "float32"),
    moving=b.sbuf((32, 4), "float32"),
    tile_size=(16, 64),  # fix: leave out
)

#% nc_matmul.tile_column
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((64, 4), "float32"),
    moving=b.sbuf((64, 4), "float32"),
    tile_position=(0, 128),  # fix: tile_position=(0, 0),
    tile_size=(64, 64),
)

#% nc_matmul.tile_pair
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),
    tile_position=(128, 0),  # fix: leave out
)

#% nc_matmul.tile_partitions
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((64, 4), "float32"),
    stationary=b.sbuf((4, 64), "float32"),
    moving=b.sbuf((128, 4), "float32")[96:100],  # fix: moving=b.sbuf((4, 4), "float32"),
    tile_position=(0, 0),
    tile_size=(128, 64),
)

#% nc_matmul.tile_row
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 4), "float32"),
    tile_position=(64, 0),  # fix: tile_position=(0, 0),
    tile_size=(128, 128),
)

#% nc_matmul.tile_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 512), "float32"),
    stationary=b.sbuf((4, 4), "float32"),
    moving=b.sbuf((4, 512), "float32"),
    tile_position=(0, 0),
    tile_size=(96, 64),  # fix: tile_size=(64, 128),
)

#% nc_matmul.transpose_dst_dtype
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((32, 4), "bfloat16"),  # fix: dst=b.psum((32, 4), "float32"),
    stationary=b.sbuf((4, 32), "float32"),
    moving=b.sbuf((4, 4), "float32"),
    is_transpose=True,
)

#% nc_matmul.indirect_engine
#! nc_matmul runs on the tensor engine alone; opcode.engine is reported first of a program file that says otherwise.

#% nc_matmul.double_row_transpose
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((32, 2, 4), "float8_e4m3"),
    moving=b.sbuf((32, 2, 8), "float8_e4m3"),
    is_transpose=True,  # fix: leave out
    perf_mode="double_row",
)

#% nc_matmul.moving_free_size_bf16
#! operand limits come first: no PSUM tile holds a bfloat16 dst of more than 8192 columns.

#% nc_matmul.one_bank
b = trnemu.ProgramBuilder(target="trn2")
b.nc_matmul(
    dst=b.psum((4, 1024), "float32")[:, 256:768],  # fix: dst=b.psum((4, 1024), "float32")[:, 512:1024],
    stationary=b.sbuf((32, 4), "bfloat16"),
    moving=b.sbuf((32, 512), "bfloat16"),
)

#% nc_matmul.accumulate_on_other
b = trnemu.ProgramBuilder(target="trn2")
w, x, y = b.sbuf((32, 4), "bfloat16"), b.sbuf((32, 8), "bfloat16"), b.psum((4, 8), "float32")
b.memset(dst=w, value=1.0)
b.memset(dst=x, value=1.0)
b.memset(dst=y, value=0.0)
b.nc_matmul(dst=y, stationary=w, moving=x, accumulate=True)  # fix: b.nc_matmul(dst=y, stationary=w, moving=x, accumulate=False)
r = trnemu.run(b.build(), {})

#% nc_matmul.duplicate_elements
b = trnemu.ProgramBuilder(target="trn2")
w, x, y = b.sbuf((32, 4), "bfloat16"), b.sbuf((32, 8), "bfloat16"), b.psum((4, 2), "float32")
b.memset(dst=w, value=1.0)
b.memset(dst=x, value=1.0)
to = y.ap([[2, 4], [0, 4], [1, 2]])
b.nc_matmul(dst=to, stationary=w, moving=x, accumulate=False)  # fix: b.nc_matmul(dst=to, stationary=w, moving=x)
r = trnemu.run(b.build(), {})

#% nc_matmul.accumulate_unwritten
b = trnemu.ProgramBuilder(target="trn2")
w, x, y = b.sbuf((32, 4), "bfloat16"), b.sbuf((32, 8), "bfloat16"), b.psum((4, 8), "float32")
b.memset(dst=w, value=1.0)
b.memset(dst=x, value=1.0)
b.nc_matmul(dst=y, stationary=w, moving=x, accumulate=True)  # fix: b.nc_matmul(dst=y, stationary=w, moving=x, accumulate=False)
r = trnemu.run(b.build(), {})

#% nc_matmul.transpose_accumulate
b = trnemu.ProgramBuilder(target="trn2")
w, eye, y = b.sbuf((32, 4), "bfloat16"), b.sbuf((32, 32), "bfloat16"), b.psum((4, 32), "bfloat16")
b.memset(dst=w, value=1.0)
b.dma_copy(dst=eye, src=b.constant("eye", np.eye(32).astype("bfloat16")))
b.nc_matmul(dst=y, stationary=w, moving=eye, is_transpose=True)
b.nc_matmul(dst=y, stationary=w, moving=eye, is_transpose=True, accumulate=True)  # fix: leave out
r = trnemu.run(b.build(), {})

#% nc_matmul.transpose_moving
b = trnemu.ProgramBuilder(target="trn2")
w, x, y = b.sbuf((32, 4), "bfloat16"), b.sbuf((32, 32), "bfloat16"), b.psum((4, 32), "bfloat16")
b.memset(dst=w, value=1.0)
b.memset(dst=x, value=1.0)  # fix: b.dma_copy(dst=x, src=b.constant("eye", np.eye(32).astype("bfloat16")))
b.nc_matmul(dst=y, stationary=w, moving=x, is_transpose=True)
r = trnemu.run(b.build(), {})
