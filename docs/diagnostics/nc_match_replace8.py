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

#% nc_match_replace8.absent
b = trnemu.ProgramBuilder(target="trn2")
t, vals = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1.0)
b.memset(dst=vals, value=5.0)  # fix: b.memset(dst=vals, value=1.0)
b.nc_match_replace8(dst=b.sbuf((4, 8), "float32"), data=t, vals=vals, imm=0.0, dst_idx=b.sbuf((4, 8), "uint32"))
r = trnemu.run(b.build(), {})
