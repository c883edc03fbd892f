# Rules of nc_match_replace8. README.md says how this is read.

#% nc_match_replace8.dst_idx_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_match_replace8(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 8), "float32"),
    imm=0,
    dst_idx=b.sbuf((4, 7), "uint32"),  # fix: dst_idx=b.sbuf((4, 8), "uint32"),
)

#% nc_match_replace8.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_match_replace8(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 8), "float32"),
    imm=0,
)

#% nc_match_replace8.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.nc_match_replace8(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 16385), "float32"),  # fix: data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 8), "float32"),
    imm=0,
)

#% nc_match_replace8.vals_shape
b = trnemu.ProgramBuilder(target="trn2")
b.nc_match_replace8(
    dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    vals=b.sbuf((4, 7), "float32"),  # fix: vals=b.sbuf((4, 8), "float32"),
    imm=0,
)
