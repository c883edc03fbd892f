# Rules of topk. README.md says how this is read.

#% topk.dst_shape
b = trnemu.ProgramBuilder(target="trn2")
b.topk(
    val_dst=b.sbuf((16, 1), "bfloat16"),
    idx_dst=b.sbuf((16, 2), "uint32"),  # fix: idx_dst=b.sbuf((16, 1), "uint32"),
    src=b.sbuf((16, 2), "bfloat16"),
    n=17,
)

#% topk.groups
b = trnemu.ProgramBuilder(target="trn2")
b.topk(
    val_dst=b.sbuf((16, 1), "bfloat16"),
    idx_dst=b.sbuf((16, 1), "uint32"),
    src=b.sbuf((1, 3), "bfloat16"),  # fix: src=b.sbuf((16, 1), "bfloat16"),
    n=8,
)

#% topk.k
b = trnemu.ProgramBuilder(target="trn2")
b.topk(
    val_dst=b.sbuf((16, 9), "bfloat16"),  # fix: val_dst=b.sbuf((16, 1), "bfloat16"),
    idx_dst=b.sbuf((16, 1), "uint32"),
    src=b.sbuf((16, 2), "bfloat16"),
    n=8,
)

#% topk.n
b = trnemu.ProgramBuilder(target="trn2")
b.topk(
    val_dst=b.sbuf((16, 1), "bfloat16"),
    idx_dst=b.sbuf((16, 1), "uint32"),
    src=b.sbuf((16, 2), "bfloat16"),
    n=0,  # fix: n=8,
)

#% topk.src_free_size
b = trnemu.ProgramBuilder(target="trn2")
b.topk(
    val_dst=b.sbuf((16, 1), "bfloat16"),
    idx_dst=b.sbuf((16, 1), "uint32"),
    src=b.sbuf((16, 2), "bfloat16"),  # fix: src=b.sbuf((16, 8), "bfloat16"),
    n=48,
)

#% topk.layout
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((128, 8), "bfloat16")
b.dma_copy(dst=t, src=b.constant("x", np.arange(1024).reshape(128, 8).astype("bfloat16")))
b.topk(val_dst=b.sbuf((128, 8), "bfloat16"), idx_dst=b.sbuf((128, 8), "uint32"), src=t, n=8)  # fix: b.max8(dst=b.sbuf((128, 8), "bfloat16"), src=t)
r = trnemu.run(b.build(), {})

#% topk.order
b = trnemu.ProgramBuilder(target="trn2")
x = np.zeros((16, 2))  # fix: x = np.arange(32).reshape(16, 2)
t = b.sbuf((16, 2), "bfloat16")
b.dma_copy(dst=t, src=b.constant("x", x.astype("bfloat16")))
b.topk(val_dst=b.sbuf((16, 3), "bfloat16"), idx_dst=b.sbuf((16, 3), "uint32"), src=t, n=32)
r = trnemu.run(b.build(), {})
