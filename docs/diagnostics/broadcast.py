# Rules of broadcast. README.md says how this is read.

#% broadcast.root
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.broadcast(
    srcs=[x], dsts=[y], replica_group=[[0, 1]],
    root=2,  # fix: root=1,
)
