# Diagnostics of collectives. README.md says how this is read.

#% collective.algorithm
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1, 2]], op="add")
r = trnemu.System("trn2.48xlarge", ranks=3, lnc=2).run(
    b.build(), {"x": np.ones((4, 8), np.float32)},
    algorithm="kangaring",  # fix: algorithm="ring",
)

#% collective.channel
b = trnemu.ProgramBuilder(target="trn2")
channels = [0, 1, 2]  # fix: channels = [0, 1]
b.collective_permute_implicit(
    srcs_by_channel=[[b.input(f"x{c}", (4, 8), "float32")] for c in channels],
    dsts_by_channel=[[b.output(f"y{c}", (4, 8), "float32")] for c in channels],
    replica_group=[[0, 1]], channel_ids=channels)
r = trnemu.System("trn2.48xlarge", ranks=2).run(b.build(), {f"x{c}": np.ones((4, 8), np.float32) for c in channels})

#% collective.channel_id
b = trnemu.ProgramBuilder(target="trn2")
b.collective_permute_implicit_current_processing_rank_id(
    dst=b.register_alloc(), iteration_id=0, replica_group=[[0, 1]],
    channel_id=4,  # fix: channel_id=3,
)

#% collective.channels
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.collective_permute_implicit(
    srcs_by_channel=[[x]], dsts_by_channel=[[y]], replica_group=[[0, 1]],
    channel_ids=[1],  # fix: channel_ids=[0],
)

#% collective.coalesced
b = trnemu.ProgramBuilder(target="trn2")
t = [b.sbuf((4, 8), "float32") for _ in range(4)]
for tile in t[:2]:
    b.memset(dst=tile, value=1.0)
b.all_reduce(
    srcs=t[:2], dsts=t[2:],  # fix: srcs=t[:1], dsts=t[2:3],
    replica_group=[[0, 1]], op="add")

#% collective.counts
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (1, 8), "float32"), b.inout("y", (1, 8), "float32")
counts = b.inout("counts", (3, 2), "uint32")
b.all_to_all_v(srcs=[x], dsts=[y], replica_group=[[0, 1]], metadata_tensor=counts)
rows = np.array([[5, 0], [0, 0], [0, 0]], np.uint32)  # fix: rows = np.array([[4, 0], [0, 0], [0, 0]], np.uint32)
ones = np.ones((1, 8), np.float32)
r = trnemu.System("trn2.48xlarge", ranks=2).run(
    b.build(), {"x": ones, "y": ones, "counts": rows}, allow=["all_to_all_v.system"])

#% collective.deadlock
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.dma_copy(dst=y, src=x)
alone = b.build()
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add")
both = b.build()
r = trnemu.System("trn2.48xlarge", ranks=2).run(
    [both, alone],  # fix: [both, both],
    {"x": np.ones((4, 8), np.float32)})

#% collective.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.all_gather(
    srcs=[b.input("x", (4, 8), "float32")],
    dsts=[b.output("y", (8, 8), "bfloat16")],  # fix: dsts=[b.output("y", (8, 8), "float32")],
    replica_group=[[0, 1]], collective_dim=0)

#% collective.equal_groups
b = trnemu.ProgramBuilder(target="trn2")
b.all_gather(
    srcs=[b.input("x", (4, 8), "float32")], dsts=[b.output("y", (8, 8), "float32")],
    replica_group=[[0, 1], [2]],  # fix: replica_group=[[0, 1], [2, 3]],
    collective_dim=0)

#% collective.first_dim
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_to_all(
    srcs=[x], dsts=[y], replica_group=[[0, 1]],
    collective_dim=1,  # fix: collective_dim=0,
)

#% collective.gather_dim
b = trnemu.ProgramBuilder(target="trn2")
b.all_gather(
    srcs=[b.input("x", (4, 8), "float32")], dsts=[b.output("y", (4, 16), "float32")],
    replica_group=[[0, 1]],
    collective_dim=1,  # fix: collective_dim=0,
)

#% collective.gathered_size
b = trnemu.ProgramBuilder(target="trn2")
b.all_gather(
    srcs=[b.input("x", (4, 8), "float32")],
    dsts=[b.output("y", (6, 8), "float32")],  # fix: dsts=[b.output("y", (8, 8), "float32")],
    replica_group=[[0, 1]], collective_dim=0)

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

#% collective.groups
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x], dsts=[y], op="add",
    replica_group=[[0, 1], [1, 2]],  # fix: replica_group=[[0, 1], [2]],
)

#% collective.hbm
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")  # fix: x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.memset(dst=x, value=1.0)  # fix: leave out
b.collective_permute(srcs=[x], dsts=[y], source_target_pairs=[[0, 1], [1, 0]])

#% collective.integer
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "int32"), b.output("y", (4, 8), "int32")  # fix: x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add")

#% collective.lists
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x, x],  # fix: srcs=[x],
    dsts=[y], replica_group=[[0, 1]], op="add")

#% collective.memory
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (4, 8), "float32")
y = b.sbuf((4, 8), "float32")  # fix: y = b.output("y", (4, 8), "float32")
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add")

#% collective.metadata
#! operand.dtype or operand.buffer comes first.

#% collective.metadata_shape
b = trnemu.ProgramBuilder(target="trn2")
b.all_to_all_v(
    srcs=[b.input("x", (1, 8), "float32")], dsts=[b.output("y", (1, 8), "float32")],
    replica_group=[[0, 1]],
    metadata_tensor=b.inout("counts", (2, 2), "uint32"),  # fix: metadata_tensor=b.inout("counts", (3, 2), "uint32"),
)

#% collective.mismatch
programs = []
for columns in (8, 16):  # fix: for columns in (8, 8):
    b = trnemu.ProgramBuilder(target="trn2")
    x, y = b.input("x", (4, columns), "float32"), b.output("y", (4, columns), "float32")
    b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add")
    programs.append(b.build())
r = trnemu.System("trn2.48xlarge", ranks=2).run(
    programs, [{"x": np.ones(p.inputs["x"][0], np.float32)} for p in programs])

#% collective.no_system
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add")
r = trnemu.run(b.build(), {"x": np.ones((4, 8), np.float32)})  # fix: r = trnemu.System("trn2.48xlarge", ranks=2).run(b.build(), {"x": np.ones((4, 8), np.float32)})

#% collective.not_in_group
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x], dsts=[y], op="add",
    replica_group=[[0, 1]],  # fix: replica_group=[[0, 1], [2]],
)
r = trnemu.System("trn2.48xlarge", ranks=3).run(b.build(), {"x": np.ones((4, 8), np.float32)})

#% collective.one_tensor
b = trnemu.ProgramBuilder(target="trn2")
x = [b.input(f"x{i}", (4, 8), "float32") for i in range(2)]
y = [b.output(f"y{i}", (4, 8), "float32") for i in range(2)]
b.collective_permute(
    srcs=x, dsts=y,  # fix: srcs=x[:1], dsts=y[:1],
    source_target_pairs=[[0, 1], [1, 0]])

#% collective.op
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x], dsts=[y], replica_group=[[0, 1]],
    op="multiply",  # fix: op="maximum",
)

#% collective.overlap
b = trnemu.ProgramBuilder(target="trn2")
x = b.inout("x", (5, 8), "float32")
b.all_reduce(
    srcs=[x[0:4]],
    dsts=[x[1:5]],  # fix: dsts=[x[0:4]],
    replica_group=[[0, 1]], op="add")
r = trnemu.System("trn2.48xlarge", ranks=2).run(b.build(), {"x": np.ones((5, 8), np.float32)})

#% collective.pairs
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.collective_permute(
    srcs=[x], dsts=[y],
    source_target_pairs=[[0, 1], [0, 2]],  # fix: source_target_pairs=[[0, 1], [1, 0]],
)

#% collective.peer
b = trnemu.ProgramBuilder(target="trn2")
b.send(
    src=b.input("x", (4, 8), "float32"),
    to_rank=-1,  # fix: to_rank=1,
)

#% collective.priority
b = trnemu.ProgramBuilder(target="trn3")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add",
    priority=4,  # fix: priority=3,
)

#% collective.rank
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x], dsts=[y], op="add",
    replica_group=[[0, 1, 2]],  # fix: replica_group=[[0, 1]],
)
r = trnemu.System("trn2.48xlarge", ranks=2).run(b.build(), {"x": np.ones((4, 8), np.float32)})

#% collective.sbuf_dimensions
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.sbuf((4, 2, 8), "float32"), b.sbuf((4, 2, 8), "float32")  # fix: x, y = b.sbuf((4, 16), "float32"), b.sbuf((4, 16), "float32")
b.memset(dst=x, value=1.0)
b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add")

#% collective.scattered_size
b = trnemu.ProgramBuilder(target="trn2")
b.reduce_scatter(
    srcs=[b.input("x", (4, 8), "float32")],
    dsts=[b.output("y", (4, 8), "float32")],  # fix: dsts=[b.output("y", (2, 8), "float32")],
    replica_group=[[0, 1]], collective_dim=0, op="add")

#% collective.size
b = trnemu.ProgramBuilder(target="trn2")
b.all_reduce(
    srcs=[b.input("x", (4, 8), "float32")],
    dsts=[b.output("y", (4, 9), "float32")],  # fix: dsts=[b.output("y", (4, 8), "float32")],
    replica_group=[[0, 1]], op="add")

#% collective.stream
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add",
    stream=2,  # fix: stream=1,
)

#% collective.swapped_size
b = trnemu.ProgramBuilder(target="trn2")
b.all_to_all(
    srcs=[b.input("x", (3, 5), "float32")],  # fix: srcs=[b.input("x", (4, 5), "float32")],
    dsts=[b.output("y", (3, 5), "float32")],  # fix: dsts=[b.output("y", (4, 5), "float32")],
    replica_group=[[0, 1]], collective_dim=0)

#% collective.trigger
b = trnemu.ProgramBuilder(target="trn2")
x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
b.all_reduce(
    srcs=[x], dsts=[y], replica_group=[[0, 1]], op="add",
    trigger="dma",  # fix: trigger="gpsimd",
)
