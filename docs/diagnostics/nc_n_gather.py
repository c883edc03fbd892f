# Rules of nc_n_gather. README.md says how this is read.

#% nc_n_gather.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.nc_n_gather(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 1), "int32"),
    data=b.sbuf((4, 7), "int32"),
    indices=b.sbuf((4, 1), "uint32"),
)

#% nc_n_gather.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_n_gather(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 7), "float32"),
    indices=b.sbuf((4, 8), "uint32"),
)

#% nc_n_gather.partitions
b = trnemu.ProgramBuilder(target="trn2")
b.nc_n_gather(
    dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 7), "float32"),
    indices=b.sbuf((32, 1), "uint32"),  # fix: indices=b.sbuf((4, 1), "uint32"),
)

#% nc_n_gather.index
b = trnemu.ProgramBuilder(target="trn2")
t, index = b.sbuf((16, 8), "float32"), b.sbuf((16, 8), "uint32")
b.memset(dst=t, value=1.0)
b.memset(dst=index, value=8)  # fix: b.memset(dst=index, value=7)
b.nc_n_gather(dst=b.sbuf((16, 8), "float32"), data=t, indices=index)
r = trnemu.run(b.build(), {})
