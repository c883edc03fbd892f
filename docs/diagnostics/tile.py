# Diagnostics of tile. README.md says how this is read.

#% tile.partitions
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((130, 8), "float32")  # fix: t = b.sbuf((128, 8), "float32")

#% tile.psum_alignment
b = trnemu.ProgramBuilder(target="trn2")
t = b.psum((4, 8), "bfloat16", address=(0, 2))  # fix: t = b.psum((4, 8), "bfloat16", address=(0, 4))
b.memset(dst=t, value=0.0)

#% tile.rank
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((128,), "float32")  # fix: t = b.sbuf((128, 1), "float32")

#% tile.sbuf_alignment
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32", address=(0, 6))  # fix: t = b.sbuf((4, 8), "float32", address=(0, 8))
b.memset(dst=t, value=0.0)
