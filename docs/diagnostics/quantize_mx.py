# Rules of quantize_mx. README.md says how this is read.

#% quantize_mx.dst_shape
b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((32, 2), "float8_e4m3fn_x4"),  # fix: dst=b.sbuf((32, 1), "float8_e4m3fn_x4"),
    src=b.sbuf((32, 4), "float16"),
    dst_scale=b.sbuf((4, 1), "float8_e8m0fnu"),
)

#% quantize_mx.free_size
b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((32, 1), "float8_e5m2_x4"),
    src=b.sbuf((32, 1), "bfloat16"),  # fix: src=b.sbuf((32, 4), "float16"),
    dst_scale=b.sbuf((4, 1), "uint8"),
)

#% quantize_mx.generation
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((32, 1), "float8_e5m2_x4"),
    src=b.sbuf((32, 4), "bfloat16"),
    dst_scale=b.sbuf((4, 1), "float8_e8m0fnu"),
)

#% quantize_mx.partitions
b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((32, 1), "float8_e4m3fn_x4"),
    src=b.sbuf((1, 4), "float16"),  # fix: src=b.sbuf((32, 4), "float16"),
    dst_scale=b.sbuf((4, 1), "float8_e8m0fnu"),
)

#% quantize_mx.scale_columns
b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((32, 1), "float8_e4m3fn_x4"),
    src=b.sbuf((32, 4), "bfloat16"),
    dst_scale=b.sbuf((4, 2), "uint8"),  # fix: dst_scale=b.sbuf((32, 1), "uint8"),
)

#% quantize_mx.scale_quadrant
b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((32, 1), "float8_e5m2_x4"),
    src=b.sbuf((32, 4), "float16"),
    dst_scale=b.sbuf((128, 1), "float8_e8m0fnu")[72:76],  # fix: dst_scale=b.sbuf((4, 1), "float8_e8m0fnu"),
)

#% quantize_mx.scale_rows
b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((128, 2), "float8_e5m2_x4"),
    src=b.sbuf((128, 8), "bfloat16"),
    dst_scale=b.sbuf((4, 2), "uint8"),  # fix: dst_scale=b.sbuf((128, 2), "uint8"),
)

#% quantize_mx.scale_start
b = trnemu.ProgramBuilder(target="trn3")
b.quantize_mx(
    dst=b.sbuf((32, 1), "float8_e5m2_x4"),
    src=b.sbuf((32, 4), "float16"),
    dst_scale=b.sbuf((128, 1), "uint8")[20:24],  # fix: dst_scale=b.sbuf((4, 1), "uint8"),
)

#% quantize_mx.not_finite
b = trnemu.ProgramBuilder(target="trn3")
t = b.sbuf((32, 4), "bfloat16")
b.memset(dst=t, value=float("inf"))  # fix: b.memset(dst=t, value=448.0)
b.quantize_mx(dst=b.sbuf((32, 1), "float8_e4m3fn_x4"), src=t, dst_scale=b.sbuf((32, 1), "uint8")[:4])
r = trnemu.run(b.build(), {})
