# Diagnostics of option. README.md says how this is read.

#% option.allow
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, allow=["tensor_copy.shap"])  # fix: r = trnemu.run(p, {"x": x}, allow=["memory.read_unwritten"])

#% option.cores
d = trnemu.Device("trn2", cores=3)  # fix: d = trnemu.Device("trn2", cores=2)

#% option.hardware
#! The command reports input.hardware first; for callers from C++.

#% option.max_instructions
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, max_instructions=-1)  # fix: r = trnemu.run(p, {"x": x}, max_instructions=1000)

#% option.numerics
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, numerics={"matmul": "fast"})  # fix: r = trnemu.run(p, {"x": x}, numerics={"matmul": "exact"})

#% option.schedule
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, schedule="timed", time=False)  # fix: r = trnemu.run(p, {"x": x}, schedule="program", time=False)

#% option.trace shell
trnemu run k.trn --input x=x.npy --trace t.json  # fix: trnemu run k.trn --input x=x.npy --log t.log
