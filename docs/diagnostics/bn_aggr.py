# Rules of bn_aggr. README.md says how this is read.

#% bn_aggr.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.bn_aggr(
    dst=b.sbuf((4, 1), "float32"),  # fix: dst=b.sbuf((4, 2), "float32"),
    data=b.sbuf((4, 3), "float32"),
)

#% bn_aggr.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.bn_aggr(
    dst=b.sbuf((4, 2), "float32"),
    data=b.sbuf((4, 5), "float32"),  # fix: data=b.sbuf((4, 3), "float32"),
)

#% bn_aggr.no_count
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 6), "float32")
b.memset(dst=t, value=0.0)  # fix: b.memset(dst=t, value=1.0)
b.bn_aggr(dst=b.sbuf((4, 2), "float32"), data=t)
r = trnemu.run(b.build(), {})
