# Rules of nc_stream_shuffle. README.md says how this is read.

#% nc_stream_shuffle.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.nc_stream_shuffle(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "uint32"),
    src=b.sbuf((4, 1), "uint32"),
    shuffle_mask=[255, 0, 2, 1, 255, 0, 255, 255, 0, 255, 1, 255, 255, 3, 2, 2, 255, 255, 2, 1, 255, 2, 255, 255, 255, 255, 0, 255, 255, 1, 3, 3],
)

#% nc_stream_shuffle.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_stream_shuffle(
    dst=b.sbuf((4, 8), "float32"),  # fix: dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    shuffle_mask=[1, 255, 255, 1, 255, 3, 255, 1, 255, 1, 0, 0, 255, 0, 1, 255, 3, 1, 255, 255, 3, 3, 255, 0, 2, 255, 1, 255, 255, 0, 1, 255],
)

#% nc_stream_shuffle.mask_length
b = trnemu.ProgramBuilder(target="trn2")
b.nc_stream_shuffle(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    shuffle_mask=[2, 255, 255, 3, 2, 255, 255, 255, 3, 255, 0, 1, 255, 0, 255, 255, 2, 255, 3, 3, 255, 0, 2, 255, 2, 3, 3, 255, 255, 3, 3, 0, 0],  # fix: shuffle_mask=[0, 255, 0, 255, 255, 0, 0, 255, 3, 0, 2, 0, 255, 2, 0, 3, 0, 3, 255, 1, 0, 3, 255, 255, 255, 0, 3, 3, 2, 255, 3, 255],
)

#% nc_stream_shuffle.mask_outside_src
b = trnemu.ProgramBuilder(target="trn2")
b.nc_stream_shuffle(
    dst=b.sbuf((64, 33), "float32"),  # fix: dst=b.sbuf((4, 33), "float32"),
    src=b.sbuf((4, 33), "float32"),
    shuffle_mask=[0, 255, 0, 0, 0, 0, 255, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255, 255, 0, 255, 255, 255, 255, 0, 0],
)

#% nc_stream_shuffle.mask_values
b = trnemu.ProgramBuilder(target="trn2")
b.nc_stream_shuffle(
    dst=b.sbuf((4, 1), "float32"),
    src=b.sbuf((4, 1), "float32"),
    shuffle_mask=[255, 16, 255, 0, 255, 1, 255, 255, 12, 255, 254, 255, 24, 255, 21, 255, 255, 0, 255, 255, 255, 255, 255, 255, 15, 255, 1, 31, 255, 17, 10, 24],  # fix: shuffle_mask=[0, 255, 0, 255, 255, 0, 0, 255, 3, 0, 2, 0, 255, 2, 0, 3, 0, 3, 255, 1, 0, 3, 255, 255, 255, 0, 3, 3, 2, 255, 3, 255],
)

#% nc_stream_shuffle.start_partition_128
b = trnemu.ProgramBuilder(target="trn2")
b.nc_stream_shuffle(
    dst=b.sbuf((65, 8), "float32"),
    src=b.sbuf((128, 8), "float32")[32:64],  # fix: src=b.sbuf((64, 8), "float32"),
    shuffle_mask=[255, 255, 30, 255, 255, 255, 255, 255, 255, 255, 2, 255, 255, 255, 255, 255, 25, 28, 255, 17, 9, 16, 9, 3, 255, 13, 25, 255, 31, 255, 255, 255],
)

#% nc_stream_shuffle.start_partition_64
b = trnemu.ProgramBuilder(target="trn2")
b.nc_stream_shuffle(
    dst=b.sbuf((33, 8), "float8_e4m3fn"),  # fix: dst=b.sbuf((4, 8), "float8_e4m3fn"),
    src=b.sbuf((128, 8), "float8_e4m3fn")[32:36],
    shuffle_mask=[1, 255, 1, 0, 255, 1, 2, 255, 1, 1, 255, 255, 255, 255, 1, 2, 1, 2, 1, 1, 1, 255, 255, 0, 1, 2, 2, 2, 0, 2, 255, 2],
)

#% nc_stream_shuffle.start_partition_32
#! operand.start_partition is reported first.
