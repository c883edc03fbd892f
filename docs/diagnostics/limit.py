# Diagnostics of limit. README.md says how this is read.

#% limit.host_memory
#! Needs a host that runs out of memory.

#% limit.instructions
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, max_instructions=3)  # fix: r = trnemu.run(p, {"x": x}, max_instructions=1000)

#% limit.interrupted
#! Needs Ctrl-C at the right time; tests of the command and of Python send it.

#% limit.profile_records shell
trnemu profile k.trn --input x=x.npy --max-records 2  # fix: trnemu profile k.trn --input x=x.npy

#% limit.simulated_time shell
trnemu run k.trn --input x=x.npy --max-time-ns 100  # fix: trnemu run k.trn --input x=x.npy --max-time-ns 1000000

#% limit.wall_time
b = trnemu.ProgramBuilder(target="trn2")
t, n = b.sbuf((4, 8), "float32"), b.register_alloc(3)
with b.while_loop(n):
    b.memset(dst=t, value=1.0)
    b.register_alu(n, "add", n, 0)  # fix: b.register_alu(n, "subtract", n, 1)
r = trnemu.run(b.build(), {}, max_wall_time=0.1)
