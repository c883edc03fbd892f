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
