# Diagnostics of input. README.md says how this is read.

#% input.assess shell
TRNEMU_PYTHON=/nowhere/python3 trnemu assess model.py  # fix: trnemu --version

#% input.dtype
p = trnemu.Program.load("k.trn")
r = trnemu.run(p, {"x": np.ones((4, 8))})  # fix: r = trnemu.run(p, {"x": np.ones((4, 8), np.float32)})

#% input.hardware shell
echo 'name: "trn9"' > what_if.textproto
trnemu run k.trn --input x=x.npy --hardware what_if.textproto  # fix: trnemu run k.trn --input x=x.npy

#% input.missing shell
trnemu run k.trn  # fix: trnemu run k.trn --input x=x.npy

#% input.not_input shell
trnemu run k.trn --input y=x.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.not_npy shell
echo hello > bad.npy
trnemu run k.trn --input x=bad.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.not_output shell
trnemu run k.trn --input x=x.npy --expect x=x.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.shape
p = trnemu.Program.load("k.trn")
r = trnemu.run(p, {"x": np.ones((8, 4), np.float32)})  # fix: r = trnemu.run(p, {"x": np.ones((4, 8), np.float32)})

#% input.size
#! NumPy arrays have the bytes of their shape; for callers from C++.

#% input.trailing shell
cat x.npy x.npy > two.npy
trnemu run k.trn --input x=two.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.truncated shell
head -c 200 x.npy > cut.npy
trnemu run k.trn --input x=cut.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.unknown
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"X": x})  # fix: r = trnemu.run(p, {"x": x})

#% input.unknown_tensor shell
trnemu run k.trn --input X=x.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.unreadable shell
trnemu run k.trn --input x=no_such_file.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.unwritable shell
trnemu run k.trn --input x=x.npy --output-dir x.npy/out  # fix: trnemu run k.trn --input x=x.npy --output-dir out

#% input.usage shell
trnemu run k.trn --inptu x=x.npy  # fix: trnemu run k.trn --input x=x.npy

#% input.bool shell
python3 -c '
import numpy, trnemu
b = trnemu.ProgramBuilder(target="trn2")
b.dma_copy(dst=b.output("y", (4, 8), "bool"), src=b.input("x", (4, 8), "bool"))
b.build().save("bool.trn")
numpy.save("two.npy", numpy.full((4, 8), 2, numpy.uint8).view(bool))
numpy.save("one.npy", numpy.full((4, 8), 1, numpy.uint8).view(bool))'
trnemu run bool.trn --input x=two.npy  # fix: trnemu run bool.trn --input x=one.npy
