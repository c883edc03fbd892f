# Diagnostics of limit. README.md says how this is read.

#% limit.host_memory
#! Needs a host that runs out of memory.

#% limit.instructions
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, max_instructions=3)  # fix: r = trnemu.run(p, {"x": x}, max_instructions=1000)

#% limit.interrupted
#! Needs Ctrl-C at the right time; tests of the command and of Python send it.

#% limit.simulated_time shell
trnemu run k.trn --input x=x.npy --max-time-ns 100  # fix: trnemu run k.trn --input x=x.npy --max-time-ns 1000000
