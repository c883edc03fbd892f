# Diagnostics of malformed. README.md says how this is read.

#% malformed.magic
open("bad.trn", "wb").write(b"hello")  # fix: open("bad.trn", "wb").write(open("k.trn", "rb").read())
p = trnemu.Program.load("bad.trn")

#% malformed.version
data = bytearray(open("k.trn", "rb").read())
data[8] = 2  # fix: data[8] = 1
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.truncated
data = open("k.trn", "rb").read()
data = data[:-8]  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.trailing
data = open("k.trn", "rb").read()
data += b"more"  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.padding
data = bytearray(open("k.trn", "rb").read())
data[4000] = 1  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.protobuf
data = bytearray(open("k.trn", "rb").read())
data[17] = 255  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.collective
b = trnemu.ProgramBuilder(target="trn2")
x = b.inout("x", (4, 8), "float32")
with b.fori_loop(0, 2):
    b.all_reduce(srcs=[x[:2], x[2:]], dsts=[x[:2], x[2:]], replica_group=[[0, 1]], op="maximum")
text = b.build().to_text()
assert "op=less target=3" in text
text = text.replace("op=less target=3", "op=less target=4")  # fix: leave out
r = trnemu.System("trn2.48xlarge", ranks=2).run(
    trnemu.Program.from_text(text), {"x": np.ones((4, 8), np.float32)})

#% malformed.unknown_field
data = open("k.trn", "rb").read()
data = data.replace(b"\x12\x04trn2", b"\x7a\x04trn2")  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.unused_field
data = open("k.trn", "rb").read()
data = data.replace(b"\x04\x08P\x00", b"\x04\x08\x40\x00", 1)  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.unset
data = open("k.trn", "rb").read()
data = data.replace(b"\x0a\x01k\x12\x04trn2", b"\x1a\x01k\x12\x04trn2")  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.enum
data = open("k.trn", "rb").read()
data = data.replace(b"trn2", b"trn9")  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.index
text = open("k.txt").read()
text = text.replace("signal s1+=1", "signal s7+=1")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.count
text = open("k.txt").read()
text = text.replace("queues=16", "queues=0")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.step
data = bytearray(open("k.trn", "rb").read())
data[390] = 1  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.rank
text = open("k.txt").read()
ones = ", ".join(["1"] * 300)
text = text.replace("y output float32 (4, 8)", f"y output float32 ({ones})")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.partitions
text = open("k.txt").read()
text = text.replace("dst=sbuf2[0:4", "dst=sbuf2[0:200")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.too_large
text = open("k.txt").read()
text = text.replace("x input float32 (4, 8)", "x input float32 (4294967296, 4294967296)")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.data
text = open("k.txt").read()
text = text.replace("data=0", "data=8")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.encoding
data = bytearray(open("k.trn", "rb").read())
at = data.index(b"\x04\x08P\x01") + 2
data[at] = 0x10  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.order
data = bytearray(open("k.trn", "rb").read())
data[386] = 0  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.text
text = open("k.txt").read()
text = text.replace("TensorScalar", "TensorScaler")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.operation
data = open("k.trn", "rb").read()
data = data.replace(b"tensor_scalar", b"tensor_scalxr")  # fix: leave out
open("bad.trn", "wb").write(data)
r = trnemu.run(trnemu.Program.load("bad.trn"), {"x": np.ones((4, 8), np.float32)})

#% malformed.dims
data = bytearray(open("k.trn", "rb").read())
data[426] = 58  # fix: leave out
open("bad.trn", "wb").write(data)
p = trnemu.Program.load("bad.trn")

#% malformed.expansion
text = open("k.txt").read()
text = text.replace("operation 1 tensor_scalar", "operation 1 activation").replace("tensor_scalar.0", "activation.0")  # fix: leave out
r = trnemu.run(trnemu.Program.from_text(text), {"x": np.ones((4, 8), np.float32)})

#% malformed.branch
b = trnemu.ProgramBuilder(target="trn2")
with b.fori_loop(0, 4):
    b.nop(engine="vector")
text = b.build().to_text()
text = text.replace("target=", "target=9")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.address
#! The text form has no such numbers; tests/isa/codec_test.cc makes the file.

#% malformed.register
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(3)
b.register_store(dst=b.sbuf((1, 1), "int32"), src=n)
text = b.build().to_text()
text = text.replace("r0", "r70000")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.immediate
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(3)
b.register_store(dst=b.sbuf((1, 1), "int32"), src=n)
text = b.build().to_text()
text = text.replace("src=3", "src=0.5")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.indirection
b = trnemu.ProgramBuilder(target="trn2")
n = b.register_alloc(1)
src = b.scratch("rows", (9, 8), "float32").ap([[8, 1], [1, 8]], scalar_offset=n)
b.dma_copy(dst=b.sbuf((1, 8), "float32"), src=src)
text = b.build().to_text()
text = text.replace("limit=9", "limit=-9").replace("dim=0", "dim=7")  # fix: leave out
p = trnemu.Program.from_text(text)

#% malformed.too_many
#! The file needs more than 65535 operations or 255 waits; not made here.

#% malformed.operand
#! The text form has no such operand, and no test makes the file.
