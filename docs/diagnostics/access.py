# Diagnostics of access. README.md says how this is read.

#% access.axis
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 8), "float32").select(3, 0)  # fix: v = b.input("x", (4, 8), "float32").select(1, 0)

#% access.broadcast
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 4), "float32").broadcast(1, 8)  # fix: v = b.input("x", (4, 4), "float32")[:, 0:1].broadcast(1, 8)

#% access.broadcast_partition
b = trnemu.ProgramBuilder(target="trn2")
v = b.sbuf((1, 8), "float32").broadcast(0, 128)  # fix: v = b.input("x", (1, 8), "float32").broadcast(0, 128)

#% access.duplicate_elements
b = trnemu.ProgramBuilder(target="trn3")
offsets = np.repeat(np.array([[0], [2]], np.uint16), 8, 0)  # fix: offsets = np.repeat(np.array([[0], [2]], np.uint16), 8, 0) + np.arange(16, dtype=np.uint16)[:, None] * 4
index = b.sbuf((16, 1), "uint16")
b.dma_copy(dst=index, src=b.constant("offsets", offsets))
t = b.sbuf((16, 80), "float32")
src = b.sbuf((16, 16), "float32")
b.memset(dst=src, value=1.0)
b.memset(dst=t, value=0.0)
b.tensor_copy(dst=t.indirect(index, 16), src=src)
r = trnemu.run(b.build(), {})

#% access.dynamic_out_of_bounds
b = trnemu.ProgramBuilder(target="trn2")
index = b.sbuf((3, 1), "int32")
rows = np.array([[0], [2147483647], [2]], np.int32)  # fix: rows = np.array([[0], [1], [2]], np.int32)
b.dma_copy(dst=index, src=b.constant("rows", rows))
table = b.constant("table", np.ones((3, 8), np.float32))
b.dma_copy(dst=b.sbuf((3, 8), "float32"), src=table.vector_select(0, index))
r = trnemu.run(b.build(), {})

#% access.ellipsis
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 2, 8), "float32")[..., 0, ...]  # fix: v = b.input("x", (4, 2, 8), "float32")[..., 0]

#% access.empty
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (8, 8), "float32")[5:5]  # fix: v = b.input("x", (8, 8), "float32")[5:6]

#% access.index
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (128, 8), "float32")[130]  # fix: v = b.input("x", (128, 8), "float32")[127]

#% access.indirect
b = trnemu.ProgramBuilder(target="trn3")
x = b.input("x", (16, 8), "float32")  # fix: x = b.sbuf((16, 8), "float32")
v = x.indirect(b.sbuf((16, 1), "uint16"), 8)

#% access.indirect_again
b = trnemu.ProgramBuilder(target="trn2")
n, m = b.register_alloc(0), b.register_alloc(0)
v = b.input("x", (4, 4, 8), "float32").select(0, n).select(0, m)  # fix: v = b.input("x", (4, 4, 8), "float32").select(1, 0).select(0, m)

#% access.indirect_base
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(0)
x = b.input("x", (4, 8), "float32")
v = x[1:].ap([[8, 1], [1, 8]], scalar_offset=n)  # fix: v = x.ap([[8, 1], [1, 8]], scalar_offset=n)

#% access.indirect_dim
b = trnemu.ProgramBuilder(target="trn2")
index = b.sbuf((4, 1), "int32")
v = b.input("x", (9, 8), "float32").vector_select(0, index)[0]  # fix: v = b.input("x", (9, 8), "float32").vector_select(0, index[0:1])

#% access.indirect_dtype
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(0)
x = b.input("x", (4, 8), "float32")
v = x.ap([[8, 1], [1, 8]], dtype="bfloat16", scalar_offset=n)  # fix: v = x.view("bfloat16").ap([[16, 1], [1, 8]], scalar_offset=n)

#% access.indirect_index
b = trnemu.ProgramBuilder(target="trn2")
index = b.input("rows", (4, 1), "int32")  # fix: index = b.sbuf((4, 1), "int32")
v = b.input("x", (9, 8), "float32").vector_select(0, index)

#% access.indirect_partition
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(0)
v = b.sbuf((4, 8), "float32").select(0, n)  # fix: v = b.sbuf((4, 8), "float32").select(1, n)

#% access.newaxis
b = trnemu.ProgramBuilder(target="trn2")
v = b.sbuf((4, 8), "float32")[None]  # fix: v = b.sbuf((4, 8), "float32")[:, None]

#% access.no_offset
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 8), "float32").ap([[8, 4], [1, 8]], indirect_dim=1)  # fix: v = b.input("x", (4, 8), "float32").ap([[8, 4], [1, 8]])

#% access.partition_step
b = trnemu.ProgramBuilder(target="trn2")
v = b.sbuf((4, 8), "float32")[::2]  # fix: v = b.sbuf((4, 8), "float32")[:2]

#% access.pattern_out_of_bounds
b = trnemu.ProgramBuilder(target="trn2")
v = b.sbuf((128, 512), "float32").ap([[512, 128], [1, 600]])  # fix: v = b.sbuf((128, 512), "float32").ap([[512, 128], [1, 512]])

#% access.permute
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 8), "float32").permute(0, 0)  # fix: v = b.input("x", (4, 8), "float32").permute(1, 0)

#% access.permute_partition
b = trnemu.ProgramBuilder(target="trn2")
v = b.sbuf((4, 8), "float32").permute(1, 0)  # fix: v = b.input("x", (4, 8), "float32").permute(1, 0)

#% access.reinterpret
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 8), "float32")[:, ::2].view("uint8")  # fix: v = b.input("x", (4, 8), "float32").view("uint8")

#% access.reshape
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 6), "float32").reshape(5, 5)  # fix: v = b.input("x", (4, 6), "float32").reshape(3, 8)

#% access.reshape_copy
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 6), "float32").permute(1, 0).reshape(24)  # fix: v = b.input("x", (4, 6), "float32").reshape(24)

#% access.reshape_partition
b = trnemu.ProgramBuilder(target="trn2")
v = b.sbuf((128, 4), "float32").reshape(64, 8)  # fix: v = b.sbuf((128, 4), "float32").reshape(128, 2, 2)

#% access.step_zero
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 8), "float32")[::0]  # fix: v = b.input("x", (4, 8), "float32")[::2]

#% access.too_large
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (1, 1), "float32").broadcast(1, 2**40)  # fix: x = b.input("x", (1, 1), "float32").broadcast(1, 512)
b.dma_copy(dst=b.output("y", (1, 2**40), "float32"), src=x)  # fix: b.dma_copy(dst=b.output("y", (1, 512), "float32"), src=x)

#% access.too_many_dims
b = trnemu.ProgramBuilder(target="trn2")
x = b.input("x", (4, 4, 4, 4, 4, 4), "float32")
v = x[::2, ::2, ::2, ::2, ::2, ::2]  # fix: v = x[::2, ::2, ::2, 0, 0, 0]
b.dma_copy(dst=b.output("y", v.shape, "float32"), src=v)

#% access.too_many_indices
b = trnemu.ProgramBuilder(target="trn2")
v = b.input("x", (4, 8), "float32")[0, 0, 0]  # fix: v = b.input("x", (4, 8), "float32")[0, 0]

#% access.two_offsets
b = trnemu.ProgramBuilder(target="trn2")
n, index = b.register_alloc(0), b.sbuf((4, 1), "int32")
x = b.input("x", (4, 8), "float32")
v = x.ap([[8, 4], [1, 8]], scalar_offset=n, vector_offset=index)  # fix: v = x.ap([[8, 4], [1, 8]], vector_offset=index)

#% access.vector_select
b = trnemu.ProgramBuilder(target="trn2")
x = b.sbuf((9, 8), "float32")  # fix: x = b.input("x", (9, 8), "float32")
v = x.vector_select(0, b.sbuf((4, 1), "int32"))

#% access.indirect_operand
#! access.indirect_index is reported first of an index that is indirect itself.

#% access.out_of_bounds
text = open("k.txt").read()
text = text.replace("src=x[0+32x1]", "src=x[8+32x1]")  # fix: leave out
r = trnemu.run(trnemu.Program.from_text(text), {"x": np.ones((4, 8), np.float32)})

#% access.pattern
b = trnemu.ProgramBuilder(target="trn2")
v = b.sbuf((4, 8), "float32").ap([[8, 0], [1, 8]])  # fix: v = b.sbuf((4, 8), "float32").ap([[8, 4], [1, 8]])
