# Diagnostics of vector. README.md says how this is read.

#% vector.accumulator_unset
b = trnemu.ProgramBuilder(target="trn3")
t, total = b.sbuf((4, 8), "float32"), b.sbuf((4, 1), "float32")
b.memset(dst=t, value=1.0)
b.exponential(
    dst=t, src=t, reduce_res=total,
    # fix: reduce_cmd="reset_reduce",
)
r = trnemu.run(b.build(), {})
