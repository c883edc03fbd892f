# Rules of bn_stats. README.md says how this is read.

#% bn_stats.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.bn_stats(
    dst=b.sbuf((4, 5), "float32"),  # fix: dst=b.sbuf((4, 6), "float32"),
    data=b.sbuf((4, 1), "float32"),
)

#% bn_stats.free_size
b = trnemu.ProgramBuilder(target="trn2")
b.bn_stats(
    dst=b.sbuf((4, 6), "float32"),
    data=b.sbuf((4, 513), "float32"),  # fix: data=b.sbuf((4, 6), "float32"),
)

#% bn_stats.no_odd_elements
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 1), "float32")  # fix: t = b.sbuf((4, 2), "float32")
b.memset(dst=t, value=1.0)
b.bn_stats(dst=b.sbuf((4, 6), "float32"), data=t)
r = trnemu.run(b.build(), {})
