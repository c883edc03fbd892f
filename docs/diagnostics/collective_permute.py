# Rules of collective_permute. README.md says how this is read.

#% collective_permute.ring
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.inout("y", (4, 8), "float32")
b.collective_permute(
    srcs=[x], dsts=[y],
    source_target_pairs=[[0, 1]],  # fix: source_target_pairs=[[0, 1], [1, 0]],
)
r = trnemu.System("trn2.48xlarge", ranks=2).run(
    b.build(), {name: np.ones((4, 8), np.float32) for name in "xy"})
