# Diagnostics of capacity. README.md says how this is read.

#% capacity.hbm
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (1024, 1024, 1024, 256), "float32")  # fix: x = b.input("x", (1024, 1024, 256), "float32")
b.dma_copy(dst=b.output("y", (1, 4), "float32"), src=x.reshape(2**38)[0:4].reshape(1, 4))  # fix: b.dma_copy(dst=b.output("y", (1, 4), "float32"), src=x.reshape(2**28)[0:4].reshape(1, 4))

#% capacity.psum
text = open("k.txt").read().replace("tensor 2 sbuf2 sbuf", "tensor 2 sbuf2 psum")
text = text.replace("partition=0 address=0 @", "partition=0 address=16368 @")  # fix: leave out
r = trnemu.run(trnemu.Program.from_text(text), {"x": np.ones((4, 8), np.float32)})

#% capacity.sbuf
text = open("k.txt").read()
text = text.replace("partition=0 address=0 @", "partition=0 address=400000 @")  # fix: leave out
r = trnemu.run(trnemu.Program.from_text(text), {"x": np.ones((4, 8), np.float32)})
