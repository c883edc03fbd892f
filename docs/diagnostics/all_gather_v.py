# Rules of all_gather_v. README.md says how this is read.

#% all_gather_v.has_rdispls
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 8), "float32"), b.inout("y", (1, 32), "float32")
b.all_gather_v(
    srcs=[x], dsts=[y], replica_group=[[0, 1, 2, 3]],
    metadata_tensor=b.inout("counts", (4, 4), "uint32"),  # fix: metadata_tensor=b.inout("counts", (3, 4), "uint32"),
    has_rdispls=True,  # fix: leave out
)

#% all_gather_v.ranks
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 8), "float32"), b.inout("y", (1, 32), "float32")
b.all_gather_v(
    srcs=[x], dsts=[y],
    replica_group=[[0, 1]],  # fix: replica_group=[[0, 1, 2, 3]],
    metadata_tensor=b.inout("counts", (3, 2), "uint32"),  # fix: metadata_tensor=b.inout("counts", (3, 4), "uint32"),
)

#% all_gather_v.system
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 8), "float32"), b.inout("y", (1, 32), "float32")
counts = b.inout("counts", (3, 4), "uint32")
b.all_gather_v(
    srcs=[x], dsts=[y], metadata_tensor=counts,
    replica_group=[[0, 1, 4, 5], [2, 3, 6, 7]],  # fix: replica_group=[[0, 1, 2, 3], [4, 5, 6, 7]],
)
r = trnemu.System("trn2.48xlarge", ranks=8).run(b.build(), {
    "x": np.ones((1, 8), np.float32), "y": np.ones((1, 32), np.float32), "counts": np.ones((3, 4), np.uint32)})
