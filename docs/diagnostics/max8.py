# Rules of max8. README.md says how this is read.

#% max8.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.max8(
    dst=b.sbuf((4, 7), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
)

#% max8.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.max8(
    dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 1), "float32"),  # fix: src=b.sbuf((4, 8), "float32"),
)

#% max8.rank
b = trnemu.ProgramBuilder(target="trn2")
b.max8(
    dst=b.sbuf((4, 2, 4), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    src=b.sbuf((4, 8), "float32"),
)

#% max8.nan
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=float("nan"))  # fix: b.memset(dst=t, value=1.0)
b.max8(dst=b.sbuf((4, 8), "float32"), src=t)
r = trnemu.run(b.build(), {})
