# Diagnostics of integer arithmetic. README.md says how this is read.

#% integer.overflow
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "int32")
largest = np.full((4, 8), 2**31 - 1, np.int32)  # fix: largest = np.full((4, 8), 2**30 - 1, np.int32)
b.dma_copy(dst=t, src=b.constant("largest", largest))
b.tensor_tensor(dst=t, data1=t, data2=t, op="add", engine="gpsimd")
r = trnemu.run(b.build(), {})

#% integer.through_fp32
b = trnemu.ProgramBuilder(target="trn2")
t, zero = b.sbuf((4, 8), "int32"), b.sbuf((4, 8), "int32")
ids = np.full((4, 8), 2**24 + 1, np.int32)
b.dma_copy(dst=t, src=b.constant("ids", ids))
b.memset(dst=zero, value=0)
b.tensor_tensor(
    dst=t, data1=t, data2=zero, op="add",
    engine="vector",  # fix: engine="gpsimd",
)
r = trnemu.run(b.build(), {})
