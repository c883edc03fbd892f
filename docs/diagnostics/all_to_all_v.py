# Rules of all_to_all_v. README.md says how this is read.

#% all_to_all_v.rdispls
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 8), "float32"), b.inout("y", (1, 8), "float32")
b.all_to_all_v(
    srcs=[x], dsts=[y],
    metadata_tensor=b.inout("counts", (4, 2), "uint32"),  # fix: metadata_tensor=b.inout("counts", (3, 2), "uint32"),
    has_rdispls=True,  # fix: leave out
    replica_group=[[i, 4 + i] for i in range(4)])
rows = np.array([[4, 4], [0, 4], [0, 0], [0, 4]], np.uint32)  # fix: rows = np.array([[4, 4], [0, 4], [0, 0]], np.uint32)
ones = np.ones((1, 8), np.float32)
r = trnemu.System("trn2.3xlarge*2", ranks=8).run(b.build(), {"x": ones, "y": ones, "counts": rows})

#% all_to_all_v.system
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 8), "float32"), b.inout("y", (1, 8), "float32")
b.all_to_all_v(
    srcs=[x], dsts=[y], metadata_tensor=b.inout("counts", (3, 2), "uint32"),
    replica_group=[[0, 1], [2, 3], [4, 5], [6, 7]],  # fix: replica_group=[[0, 4], [1, 5], [2, 6], [3, 7]],
)
rows = np.array([[4, 4], [0, 4], [0, 0]], np.uint32)
ones = np.ones((1, 8), np.float32)
r = trnemu.System("trn2.3xlarge*2", ranks=8).run(b.build(), {"x": ones, "y": ones, "counts": rows})
