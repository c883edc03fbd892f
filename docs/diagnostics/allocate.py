# Diagnostics of allocate. README.md says how this is read.

#% allocate.psum
b = trnemu.ProgramBuilder(target="trn2")
tiles = [b.psum((128, 512), "float32") for _ in range(9)]  # fix: tiles = [b.psum((128, 512), "float32") for _ in range(8)]
for t in tiles:
    b.memset(dst=t, value=0.0)
out = b.sbuf((128, 512), "float32")
for t in tiles:
    b.tensor_copy(dst=out, src=t)

#% allocate.sbuf
b = trnemu.ProgramBuilder(target="trn1")
tiles = [b.sbuf((128, n), "uint8") for n in (888, 98568, 98568)]  # fix: tiles = [b.sbuf((128, n), "uint8") for n in (888, 98568, 90000)]
for t in tiles:
    b.memset(dst=t[:, 0:64], value=0)
for t in tiles:
    b.tensor_copy(dst=b.sbuf((128, 64), "uint8"), src=t[:, 0:64])
