# Rules of sendrecv. README.md says how this is read.

#% sendrecv.dtype
b = trnemu.ProgramBuilder(target="trn2", cores=2)
b.sendrecv(
    src=b.sbuf((4, 8), "float32"),
    dst=b.sbuf((4, 8), "float16"),  # fix: dst=b.sbuf((4, 8), "float32"),
    send_to_rank=0,
    recv_from_rank=0,
    pipe_id=0,
)

#% sendrecv.gpsimd_size
b = trnemu.ProgramBuilder(target="trn2", cores=2)
with b.core(1):
    b.sendrecv(
        src=b.sbuf((4, 257), "float32"),
        dst=b.sbuf((4, 257), "float32"),
        send_to_rank=0,
        recv_from_rank=0,
        pipe_id=0,
        dma_engine="gpsimd_dma",  # fix: leave out
    )

#% sendrecv.ranks
b = trnemu.ProgramBuilder(target="trn2", cores=2)
b.sendrecv(
    src=b.sbuf((4, 8), "float32"),
    dst=b.sbuf((4, 8), "float32"),
    send_to_rank=2,  # fix: send_to_rank=0,
    recv_from_rank=0,
    pipe_id=0,
)

#% sendrecv.shape
b = trnemu.ProgramBuilder(target="trn2", cores=2)
b.sendrecv(
    src=b.sbuf((4, 8), "float32"),
    dst=b.sbuf((4, 9), "float32"),  # fix: dst=b.sbuf((4, 8), "float32"),
    send_to_rank=0,
    recv_from_rank=0,
    pipe_id=0,
)

#% sendrecv.two_cores
b = trnemu.ProgramBuilder(target="trn2")  # fix: b = trnemu.ProgramBuilder(target="trn2", cores=2)
b.sendrecv(
    src=b.sbuf((4, 8), "float32"),
    dst=b.sbuf((4, 8), "float32"),
    send_to_rank=0,
    recv_from_rank=0,
    pipe_id=0,
)

#% sendrecv.generation
b = trnemu.ProgramBuilder(target="trn1")  # fix: b = trnemu.ProgramBuilder(target="trn2", cores=2)
b.sendrecv(
    src=b.sbuf((4, 8), "float32"),
    dst=b.sbuf((4, 8), "float32"),
    send_to_rank=1,
    recv_from_rank=1,
    pipe_id=0,
)

#% sendrecv.trigger
#! The builder chooses the trigger of gpsimd_dma, and opcode.engine is reported first of a program file that says otherwise.

#% sendrecv.mismatch
b = trnemu.ProgramBuilder(target="trn2", cores=2)
for core, columns in ((0, 8), (1, 4)):  # fix: for core, columns in ((0, 8), (1, 8)):
    with b.core(core):
        t = b.sbuf((4, columns), "float32")
        b.memset(dst=t, value=1.0)
        b.sendrecv(src=t, dst=b.sbuf((4, columns), "float32"), send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)
r = trnemu.run(b.build(), {})

#% sendrecv.overlap
b = trnemu.ProgramBuilder(target="trn2", cores=2)
for core in (0, 1):
    with b.core(core):
        t, other = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
        b.memset(dst=t, value=1.0)
        b.sendrecv(src=t[:, 0:7], dst=t[:, 1:8], send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)  # fix: b.sendrecv(src=t, dst=other, send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)
r = trnemu.run(b.build(), {})

#% sendrecv.pairing
b = trnemu.ProgramBuilder(target="trn2", cores=2)
for core, partner in ((0, 0), (1, 0)):  # fix: for core, partner in ((0, 1), (1, 0)):
    with b.core(core):
        t = b.sbuf((4, 8), "float32")
        b.memset(dst=t, value=1.0)
        b.sendrecv(src=t, dst=b.sbuf((4, 8), "float32"), send_to_rank=1 - core, recv_from_rank=partner, pipe_id=0)
r = trnemu.run(b.build(), {})
