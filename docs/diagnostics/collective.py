# Diagnostics of collective. README.md says how this is read.

#% collective.group
#! For callers of the library from C++.

#% collective.both_cores
b = trnemu.ProgramBuilder("trn2")
x = b.inout("x", (4,), "float32")
b.all_reduce(
    srcs=[x], dsts=[x], replica_group=[[0, 1]], op="add",
    both_cores=True,  # fix: leave out
)

#% collective.cores
b = trnemu.ProgramBuilder("trn2", cores=2)
x = b.input("x", (4,), "float32")
y = b.output("y", (4,), "float32")
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add", both_cores=True)
with b.core(1):
    b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="maximum", both_cores=True)  # fix: b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add", both_cores=True)
trnemu.System(ranks=2).run(b.build(), {"x": np.ones(4, np.float32)})
