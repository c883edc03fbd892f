# Rules of dropout. README.md says how this is read.

#% dropout.dtype
b = trnemu.ProgramBuilder(target="trn2")
b.dropout(
    dst=b.sbuf((4, 1), "float16"),  # fix: dst=b.sbuf((4, 1), "float32"),
    data=b.sbuf((4, 1), "float32"),
    prob=0.0,
)

#% dropout.integer_prob
b = trnemu.ProgramBuilder(target="trn2")
b.dropout(
    dst=b.sbuf((4, 1), "uint32"),
    data=b.sbuf((4, 1), "uint32"),
    prob=b.sbuf((4, 1), "float8_e5m2"),  # fix: prob=b.sbuf((4, 1), "float32"),
)

#% dropout.prob_shape
b = trnemu.ProgramBuilder(target="trn2")
b.dropout(
    dst=b.sbuf((1, 8), "float32"),
    data=b.sbuf((1, 8), "float32"),
    prob=b.sbuf((4, 1), "float32"),  # fix: prob=0.5,
)

#% dropout.shape
b = trnemu.ProgramBuilder(target="trn2")
b.dropout(
    dst=b.sbuf((4, 9), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    data=b.sbuf((4, 8), "float32"),
    prob=0.0,
)

#% dropout.probability
b = trnemu.ProgramBuilder(target="trn2")
t = b.sbuf((4, 8), "float32")
b.memset(dst=t, value=1.0)
b.dropout(dst=t, data=t, prob=1.5)  # fix: b.dropout(dst=t, data=t, prob=0.5)
r = trnemu.run(b.build(), {})
