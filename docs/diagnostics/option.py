# Diagnostics of option. README.md says how this is read.

#% option.allow
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, allow=["tensor_copy.shap"])  # fix: r = trnemu.run(p, {"x": x}, allow=["memory.read_unwritten"])

#% option.bench
rows = trnemu.bench("tensor_tensor", op="ad")  # fix: rows = trnemu.bench("tensor_tensor", op="add")

#% option.cores
d = trnemu.Device("trn2", cores=3)  # fix: d = trnemu.Device("trn2", cores=2)

#% option.explore
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.explore(p, {"x": x}, 0)  # fix: r = trnemu.explore(p, {"x": x}, 3)

#% option.collective shell
trnemu collective all_reduce --ranks 4 --size 1KiB --streams 9  # fix: trnemu collective all_reduce --ranks 4 --size 1KiB --streams 2

#% option.fail_link shell
trnemu info --system trn2.48xlarge --fail-link 0-5  # fix: trnemu info --system trn2.48xlarge --fail-link 0-1

#% option.group shell
trnemu collective all_reduce --ranks 8 --size 1KiB --group-size 3  # fix: trnemu collective all_reduce --ranks 8 --size 1KiB --group-size 4

#% option.hardware
#! The command reports input.hardware first; for callers from C++.

#% option.launch_overhead
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, launch_overhead=True, schedule="program")  # fix: r = trnemu.run(p, {"x": x}, launch_overhead=True)

#% option.lnc shell
trnemu info --system trn1.32xlarge --lnc 2  # fix: trnemu info --system trn1.32xlarge --lnc 1

#% option.max_host_memory
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, max_host_memory=-1)  # fix: r = trnemu.run(p, {"x": x}, max_host_memory=64 << 20)

#% option.max_instructions
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, max_instructions=-1)  # fix: r = trnemu.run(p, {"x": x}, max_instructions=1000)

#% option.max_time_ns
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, max_time_ns=1e6, schedule="program")  # fix: r = trnemu.run(p, {"x": x}, max_time_ns=1e6)

#% option.max_wall_seconds
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, max_wall_time=-1.0)  # fix: r = trnemu.run(p, {"x": x}, max_wall_time=60.0)

#% option.numerics
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, numerics={"matmul": "fast"})  # fix: r = trnemu.run(p, {"x": x}, numerics={"matmul": "exact"})

#% option.processes
#! Needs mpirun; tests/processes has it.

#% option.profile
#! The command and trnemu.profile have no schedule; for callers from C++.

#% option.ranks shell
trnemu info --system trn2.48xlarge --lnc 2 --ranks 65  # fix: trnemu info --system trn2.48xlarge --lnc 2 --ranks 64

#% option.schedule
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, schedule="timed", time=False)  # fix: r = trnemu.run(p, {"x": x}, schedule="program", time=False)

#% option.stop_at_nan
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, stop_at_nan=True, values=False)  # fix: r = trnemu.run(p, {"x": x}, stop_at_nan=True)

#% option.system shell
trnemu info --system trn2.48xlrge  # fix: trnemu info --system trn2.48xlarge

#% option.target
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn2")
b.memset(dst=b.sbuf((4, 8), "float32"), value=1.0)
r = trnemu.System("trn2.48xlarge", ranks=2).run(b.build())

#% option.throttle
p = trnemu.Program.load("k.trn")
x = np.ones((4, 8), np.float32)
r = trnemu.run(p, {"x": x}, throttle=False, schedule=1)  # fix: r = trnemu.run(p, {"x": x}, throttle=False)
