# Rules of nc_find_index8. README.md says how this is read.

#% nc_find_index8.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_find_index8(
    dst=b.sbuf((4, 7), "uint32"),  # fix: dst=b.sbuf((4, 8), "uint32"),
    data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 8), "float32"),
)

#% nc_find_index8.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_find_index8(
    dst=b.sbuf((4, 8), "uint16"),
    data=b.sbuf((4, 1), "float32"),  # fix: data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 8), "float32"),
)

#% nc_find_index8.rank
b = trnemu.ProgramBuilder(target="trn2")
b.nc_find_index8(
    dst=b.sbuf((4, 8), "uint16"),
    data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 2, 2, 2), "float32"),  # fix: vals=b.sbuf((4, 8), "float32"),
)

#% nc_find_index8.vals_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_find_index8(
    dst=b.sbuf((4, 8), "uint32"),
    data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 7), "float32"),  # fix: vals=b.sbuf((4, 8), "float32"),
)

#% nc_find_index8.too_few
b = trnemu.ProgramBuilder(target="trn2")
t, vals = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
b.dma_copy(dst=t, src=b.constant("data", np.tile(np.arange(8, dtype=np.float32), (4, 1))))
b.dma_copy(dst=vals, src=b.constant("vals", np.full((4, 8), 7, np.float32)))  # fix: b.dma_copy(dst=vals, src=t)
b.nc_find_index8(dst=b.sbuf((4, 8), "uint32"), data=t, vals=vals)
r = trnemu.run(b.build(), {})
