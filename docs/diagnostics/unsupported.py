# Diagnostics of unsupported. README.md says how this is read.

#% unsupported.barrier_engines
b = trnemu.ProgramBuilder(target="trn2", cores=2)
data = b.scratch("s", (4, 8), "float32")
for core in (0, 1):
    with b.core(core):
        b.core_barrier(data=data, cores=(0, 1), engine="gpsimd")
        with b.fori_loop(0, 4):
            b.core_barrier(data=data, cores=(0, 1), engine="vector")  # fix: b.core_barrier(data=data, cores=(0, 1), engine="gpsimd")

#% unsupported.mpi
#! Needs a trnemu that was built without MPI.

#% unsupported.register_signal
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
s = b.semaphore()
n, t = b.register_alloc(), b.sbuf((4, 4, 8), "float32")
b.register_load(dst=n, src=b.constant("n", np.array([[1]], np.int32)), signal=[(s, 1)])  # fix: b.register_load(dst=n, src=b.constant("n", np.array([[1]], np.int32)))
for engine in ("vector", "scalar"):
    b.tensor_copy(dst=b.sbuf((4, 8), "float32"), src=t.select(1, n), engine=engine)

#% unsupported.system_option
#! trnemu.System.run takes no such option; for callers from C++.

#% unsupported.system_schedule
#! trnemu.System.run takes no schedule; for callers from C++.

#% unsupported.values_off
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc()
b.register_load(dst=n, src=b.constant("n", np.array([[1]], np.int32)))
with b.fori_loop(0, n):
    b.nop()
r = trnemu.run(b.build(), {}, values=False)  # fix: r = trnemu.run(b.build(), {}, values=True)

#% unsupported.verb
#! Of a command without its Python package; every verb is there where it is.
