# Rules of nc_matmul_mx. README.md says how this is read.

#% nc_matmul_mx.dst_shape
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 4), "float32"),  # fix: dst=b.psum((2, 4), "bfloat16"),
    stationary=b.sbuf((32, 2), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((4, 2), "float8_e8m0fnu"),
    moving=b.sbuf((32, 4), "float8_e5m2_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
)

#% nc_matmul_mx.indirect_dst_start
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((128, 4), "float32").indirect(b.sbuf((128, 1), "uint16"), 4),  # fix: dst=b.psum((128, 4), "float32"),
    stationary=b.sbuf((128, 128), "float8_e5m2_x4")[96:128],
    stationary_scale=b.sbuf((128, 128), "uint8")[100:104],
    moving=b.sbuf((128, 4), "float4_e2m1fn_x4")[96:128],
    moving_scale=b.sbuf((128, 4), "uint8")[96:100],
)

#% nc_matmul_mx.indirect_scales
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 33), "float32"),
    stationary=b.sbuf((128, 4), "float4_e2m1fn_x4"),
    stationary_scale=b.sbuf((100, 4), "uint8"),
    moving=b.sbuf((128, 33), "float8_e5m2_x4").indirect(b.sbuf((128, 3), "uint16"), 33),  # fix: moving=b.sbuf((128, 33), "float8_e5m2_x4"),
    moving_scale=b.sbuf((100, 33), "uint8"),
)

#% nc_matmul_mx.indirect_tile_position
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((128, 4), "float32").indirect(b.sbuf((128, 1), "int32"), 4),  # fix: dst=b.psum((128, 4), "float32"),
    tile_position=(64, 0),
    tile_size=(32, 128),
    stationary=b.sbuf((128, 128), "float8_e4m3fn_x4")[64:96],
    stationary_scale=b.sbuf((128, 128), "uint8")[72:76],
    moving=b.sbuf((128, 4), "float4_e2m1fn_x4")[64:96],
    moving_scale=b.sbuf((128, 4), "float8_e8m0fnu")[76:80],
)

#% nc_matmul_mx.scale_columns
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((4, 2), "float8_e8m0fnu"),  # fix: stationary_scale=b.sbuf((4, 4), "float8_e8m0fnu"),
    moving=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
)

#% nc_matmul_mx.scale_quadrant
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((32, 4), "float8_e5m2_x4"),
    stationary_scale=b.sbuf((128, 4), "uint8")[40:44],  # fix: stationary_scale=b.sbuf((4, 4), "uint8"),
    moving=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
)

#% nc_matmul_mx.scale_rows
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((2, 33), "float32"),
    stationary=b.sbuf((32, 2), "float8_e5m2_x4"),
    stationary_scale=b.sbuf((4, 2), "float8_e8m0fnu"),
    moving=b.sbuf((32, 33), "float8_e5m2_x4"),
    moving_scale=b.sbuf((3, 33), "float8_e8m0fnu"),  # fix: moving_scale=b.sbuf((32, 33), "float8_e8m0fnu"),
)

#% nc_matmul_mx.scale_start
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 4), "float32"),
    stationary=b.sbuf((32, 4), "float8_e5m2_x4"),
    stationary_scale=b.sbuf((128, 4), "float8_e8m0fnu")[16:20],  # fix: stationary_scale=b.sbuf((4, 4), "float8_e8m0fnu"),
    moving=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
)

#% nc_matmul_mx.tile_pair
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((128, 4), "float32"),
    tile_position=(0, 0),
    stationary=b.sbuf((32, 128), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((4, 128), "float8_e8m0fnu"),
    moving=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
    # fix: tile_size=(64, 128),
)

#% nc_matmul_mx.tile_partitions
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((2, 4), "float32"),
    tile_position=(32, 0),  # fix: tile_position=(0, 0),
    tile_size=(32, 128),
    stationary=b.sbuf((32, 2), "float8_e5m2_x4"),
    stationary_scale=b.sbuf((4, 2), "float8_e8m0fnu"),
    moving=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
)

#% nc_matmul_mx.tile_position
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 4), "float32"),
    tile_position=(128, 0),  # fix: tile_position=(0, 0),
    tile_size=(32, 128),
    stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((4, 4), "float8_e8m0fnu"),
    moving=b.sbuf((32, 4), "float8_e5m2_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
)

#% nc_matmul_mx.tile_size
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 4), "float32"),
    tile_position=(0, 0),
    tile_size=(32, 64),  # fix: tile_size=(64, 128),
    stationary=b.sbuf((32, 4), "float4_e2m1fn_x4"),
    stationary_scale=b.sbuf((4, 4), "float8_e8m0fnu"),
    moving=b.sbuf((32, 4), "float8_e5m2_x4"),
    moving_scale=b.sbuf((4, 4), "uint8"),
)

#% nc_matmul_mx.columns
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((3, 8), "float32"),  # fix: dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((32, 3), "float8_e4m3fn_x4"),  # fix: stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving=b.sbuf((32, 8), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((32, 3), "uint8")[:4],  # fix: stationary_scale=b.sbuf((32, 4), "uint8")[:4],
    moving_scale=b.sbuf((32, 8), "uint8")[:4],
)

#% nc_matmul_mx.contraction
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((20, 4), "float8_e4m3fn_x4"),  # fix: stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving=b.sbuf((20, 8), "float8_e4m3fn_x4"),  # fix: moving=b.sbuf((32, 8), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((32, 4), "uint8")[:4],
    moving_scale=b.sbuf((32, 8), "uint8")[:4],
)

#% nc_matmul_mx.generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving=b.sbuf((32, 8), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((32, 4), "uint8")[:4],
    moving_scale=b.sbuf((32, 8), "uint8")[:4],
)

#% nc_matmul_mx.moving_free_size
b = trnemu.ProgramBuilder(target="trn3")
b.nc_matmul_mx(
    dst=b.psum((4, 4096), "float32"),
    stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving=b.sbuf((32, 4104), "float8_e4m3fn_x4"),  # fix: moving=b.sbuf((32, 4096), "float8_e4m3fn_x4"),
    stationary_scale=b.sbuf((32, 4), "uint8")[:4],
    moving_scale=b.sbuf((32, 4104), "uint8")[:4],  # fix: moving_scale=b.sbuf((32, 4096), "uint8")[:4],
)

#% nc_matmul_mx.indirect_data_start
b = trnemu.ProgramBuilder(target="trn3")
index = b.sbuf((128, 1), "uint16")[32:64]  # fix: index = b.sbuf((32, 1), "uint16")
b.nc_matmul_mx(
    dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving=b.sbuf((32, 8), "float8_e4m3fn_x4").indirect(index, 8),
    stationary_scale=b.sbuf((32, 4), "uint8")[:4],
    moving_scale=b.sbuf((32, 8), "uint8").indirect(index, 8),
)

#% nc_matmul_mx.indirect_index
b = trnemu.ProgramBuilder(target="trn3")
index = b.sbuf((128, 1), "uint16")[16:48]  # fix: index = b.sbuf((32, 1), "uint16")
b.nc_matmul_mx(
    dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving=b.sbuf((32, 8), "float8_e4m3fn_x4").indirect(index, 8),
    stationary_scale=b.sbuf((32, 4), "uint8")[:4],
    moving_scale=b.sbuf((32, 8), "uint8").indirect(index, 8),
)

#% nc_matmul_mx.indirect_scale_index
b = trnemu.ProgramBuilder(target="trn3")
index = b.sbuf((32, 1), "uint16")
other = b.sbuf((32, 1), "uint16")
b.nc_matmul_mx(
    dst=b.psum((4, 8), "float32"),
    stationary=b.sbuf((32, 4), "float8_e4m3fn_x4"),
    moving=b.sbuf((32, 8), "float8_e4m3fn_x4").indirect(index, 8),
    stationary_scale=b.sbuf((32, 4), "uint8")[:4],
    moving_scale=b.sbuf((32, 8), "uint8").indirect(other, 8),  # fix: moving_scale=b.sbuf((32, 8), "uint8").indirect(index, 8),
)
