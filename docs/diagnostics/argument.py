# Diagnostics of argument. README.md says how this is read.

#% argument.kind
#! Python raises TypeError at the call, and a file is refused as malformed.operand; for C++ that makes a Call of its own.

#% argument.missing
b = trnemu.ProgramBuilder(target="trn2")
b.dma_compute(
    dst=b.output("y", (4, 8), "float32"),
    srcs=[],  # fix: srcs=[b.input("x", (4, 8), "float32")],
    reduce_op="add",
)

#% argument.builder
b, other = trnemu.ProgramBuilder(target="trn2"), trnemu.ProgramBuilder(target="trn2")
src = other.sbuf((4, 8), "float32")  # fix: src = b.sbuf((4, 8), "float32")
b.tensor_copy(dst=b.sbuf((4, 8), "float32"), src=src)

#% argument.count
b = trnemu.ProgramBuilder(target="trn2")
pattern = [[1, 2], [1, 2], [1, 2], [1, 2], [1, 2]]  # fix: pattern = [[2, 4], [1, 8]]
b.iota(dst=b.sbuf((4, 32), "int32"), pattern=pattern, offset=0)

#% argument.name
#! Python raises TypeError with the nearest name; for callers from C++.
