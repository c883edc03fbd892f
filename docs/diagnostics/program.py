# Diagnostics of program. README.md says how this is read.

#% program.core
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn2", cores=2)
with b.core(1):
    b.nop()

#% program.logical_core
b = trnemu.ProgramBuilder(target="trn1", cores=2)  # fix: b = trnemu.ProgramBuilder(target="trn1", cores=1)
b.nop()

#% program.target
c = trnemu.ProgramBuilder(target="trn2")
t, y = c.sbuf((32, 4), "float32"), c.psum((4, 32), "float32")
c.memset(dst=t, value=1.0)
c.nc_transpose(dst=y, data=t)
r = trnemu.run(c.build(), {}, target="trn1")  # fix: r = trnemu.run(c.build(), {}, target="trn2")

#% program.cores
#! ProgramBuilder raises ValueError, and a file is refused as malformed.count; for callers from C++.
