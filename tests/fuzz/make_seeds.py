"""Writes small programs of every operation as seeds for the fuzzer.

python make_seeds.py DIRECTORY
"""

import itertools
import pathlib
import sys

import trnemu

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from mutation_run import candidates, subject  # noqa: E402
from mutation_text import Listing  # noqa: E402
from oracle import GENERATORS, harness  # noqa: E402

MOST_BYTES = 60_000  # of a seed; the fuzzer's max_len is a little more


def one_of_each(target: str, tensor_transpose: bool) -> trnemu.Program:
    """Every operation once, on tiny tiles. The identity that a tensor-engine
    transpose brings makes a large file."""
    b = trnemu.ProgramBuilder(target=target, name="seed")
    x = b.input("x", (8, 16), "float32")
    y = b.output("y", (8, 16), "float32")
    z = b.output("z", (16, 8), "float32")
    t = b.sbuf((8, 16), "float32")
    u = b.sbuf((8, 16), "float32")
    h = b.sbuf((8, 16), "bfloat16")
    c = b.sbuf((8, 1), "float32")
    i = b.sbuf((8, 16), "int32")
    p = b.psum((16, 16), "float32")
    q = (b.psum if tensor_transpose else b.sbuf)((16, 8), "float32")
    b.dma_copy(dst=t, src=x)
    b.memset(dst=c, value=2.0)
    b.iota(dst=i, pattern=[[1, 16]], offset=3, channel_multiplier=2)
    b.tensor_copy(dst=u, src=i)
    b.tensor_tensor(dst=u, data1=t, data2=u, op="add")
    b.tensor_scalar(dst=u, data=u, op0="multiply", operand0=c, op1="subtract", operand1=1.0)
    b.scalar_tensor_tensor(dst=u, data=u, op0="add", operand0=c, op1="maximum", operand1=t)
    b.activation(dst=h, op="tanh", data=u, scale=0.5, reduce_op="add", reduce_res=c, reduce_cmd="reset_reduce")
    b.affine_select(dst=u, pattern=[[1, 16]], channel_multiplier=-1, on_true_tile=u, on_false_value=0.0, cmp_op="greater")
    b.tensor_reduce(dst=c, op="add", data=u, axis=1)
    b.reciprocal(dst=c, data=c)
    b.nc_matmul(dst=p, stationary=h, moving=h)
    b.nc_matmul(dst=p, stationary=t, moving=u)
    b.nc_transpose(dst=q, data=t)
    v = b.sbuf((16, 8), "float32")
    b.tensor_copy(dst=v, src=q)
    b.dma_copy(dst=z, src=v)
    b.tensor_copy(dst=u, src=p[0:8, :])
    b.dma_copy(dst=y, src=u)
    return b.build()


def loops() -> trnemu.Program:
    """Nested loops, a count from memory, dynamic rows, a gather."""
    b = trnemu.ProgramBuilder(name="loops")
    x = b.input("x", (8, 4), "float32")
    y = b.output("y", (8, 4), "float32")
    n = b.input("n", (1, 1), "int32")
    t, u = b.sbuf((1, 4), "float32"), b.sbuf((4, 4), "float32")
    c, i = b.sbuf((1, 1), "int32"), b.sbuf((4, 1), "int32")
    b.dma_copy(dst=c, src=n)
    b.iota(dst=i, pattern=[[0, 1]], channel_multiplier=1)
    b.dma_copy(dst=u, src=x.ap([[4, 4], [1, 4]], vector_offset=i, indirect_dim=0))
    hi, going = b.register_alloc(), b.register_alloc(1)
    b.register_load(hi, c)
    with b.fori_loop(0, hi):
        b.tensor_tensor(dst=u, data1=u, data2=u, op="add")
    with b.fori_loop(0, 8) as r, b.fori_loop(r, 8, 3):
        b.dma_copy(dst=t, src=x.select(0, r))
        b.activation(dst=t, op="relu", data=t)
        b.dma_copy(dst=y.select(0, r), src=t)
    with b.while_loop(going):
        b.register_alu(going, "subtract", going, 1)
    b.register_store(c, going)
    return b.build()


def two_cores() -> trnemu.Program:
    """A barrier and an exchange."""
    b = trnemu.ProgramBuilder(name="cores", cores=2)
    shared, y = b.scratch("s", (2, 4), "float32"), b.output("y", (2, 4), "float32")
    for c in range(2):
        with b.core(c):
            t, u = b.sbuf((1, 4), "float32"), b.sbuf((1, 4), "float32")
            b.memset(dst=t, value=c)
            b.dma_copy(dst=shared[c : c + 1], src=t)
            b.core_barrier(data=shared, cores=(0, 1))
            b.sendrecv(src=t, dst=u, send_to_rank=1 - c, recv_from_rank=1 - c, pipe_id=0)
            b.dma_copy(dst=y[c : c + 1], src=u)
    return b.build()


def ranks(target: str) -> trnemu.Program:
    """A collective of each kind, between two ranks."""
    b = trnemu.ProgramBuilder(target=target, name="ranks")
    x, m = b.input("x", (4, 4), "float32"), b.inout("m", (4, 2), "uint32")
    group = {"replica_group": [[0, 1]]}

    def out(rows: int) -> trnemu.View:
        return b.scratch(f"y{next(number)}", (rows, 4), "float32")
    number = itertools.count()
    b.all_reduce(srcs=[x, x], dsts=[out(4), out(4)], op="add", **group)
    b.all_gather(srcs=[x], dsts=[out(8)], collective_dim=0, stream=1, **group)
    b.reduce_scatter(srcs=[x], dsts=[out(2)], collective_dim=0, op="maximum", **group)
    b.all_to_all(srcs=[x], dsts=[out(4)], collective_dim=0, trigger="gpsimd", **group)
    b.collective_permute(srcs=[x], dsts=[out(4)], source_target_pairs=[[0, 1]])
    b.collective_permute_implicit(srcs_by_channel=[x, x], dsts_by_channel=[out(4), out(4)],
                                  channel_ids=[0, 1], **group)
    b.collective_permute_implicit_reduce(srcs0_by_channel=[x], srcs1_by_channel=[x],
                                         dsts_by_channel=[out(4)], op="add", **group)
    b.all_to_all_v(srcs=[x], dsts=[out(4)], has_rdispls=True, metadata_tensor=m, **group)
    b.broadcast(srcs=[x], dsts=[out(4)], root=1, **group)
    b.collective_barrier(data=x, **group)
    r = b.register_alloc()
    b.rank_id(dst=r)
    with b.fori_loop(0, 2) as i:
        b.collective_permute_implicit_current_processing_rank_id(dst=r, iteration_id=i, **group)
        s = b.sbuf((4, 4), "float32")
        b.dma_copy(dst=s, src=x)
        b.all_reduce(srcs=[s], dsts=[s], op="add", **group)
    b.register_store(b.output("r", (1, 1), "int32"), r)
    return b.build()


def explicit(out: pathlib.Path) -> None:
    """Programs with semaphores of their own, as they are and with a mistake."""
    for number in range(1, 24, 2):  # odd ones are explicit
        s = subject((1, number))
        program = trnemu.Program.from_text(s.text)
        write(out / f"explicit-{number}.trn", program, number % 16)
        listing = Listing.of(s.text)
        for kind in ("remove wait", "weaken wait"):
            for mutation, _ in itertools.islice(candidates(s, listing, kind), 1):
                wrong = trnemu.Program.from_text(listing.text(mutation.lines))
                write(out / f"{kind.replace(' ', '-')}-{number}.trn", wrong, number % 16)


def write(path: pathlib.Path, program: trnemu.Program, choice: int) -> bool:
    """The fuzzer's first byte chooses the options of the run. False: too
    large."""
    program.save(str(path))
    file = bytes([choice]) + path.read_bytes()
    path.write_bytes(file)
    if len(file) <= MOST_BYTES:
        return True
    path.unlink()
    return False


def every_operation(out: pathlib.Path) -> None:
    """A few small cases of each operation of the reference."""
    for operation in GENERATORS:
        written = 0
        for number in range(40):
            target = trnemu.targets[number % 3]
            packer = harness.Packer(target)
            try:
                packer.add(harness.make(operation, target, number).case)
                program = packer.b.build()
            except (trnemu.Fault, harness.Unsupported):
                continue
            path = out / f"{operation}-{number}.trn"
            written += write(path, program, number % 8)
            if written == 3:
                break


def main(directory: str) -> None:
    out = pathlib.Path(directory)
    out.mkdir(parents=True, exist_ok=True)
    for choice, target in enumerate(("trn1", "trn2", "trn3")):
        for transpose in (False, True):
            path = out / f"{target}{'-transpose' if transpose else ''}.trn"
            write(path, one_of_each(target, transpose), choice)
    write(out / "loops.trn", loops(), 0)
    write(out / "cores.trn", two_cores(), 1)
    for choice, target in enumerate(trnemu.targets):
        write(out / f"ranks-{target}.trn", ranks(target), 3 * choice)
    every_operation(out)
    explicit(out)


if __name__ == "__main__":
    main(sys.argv[1])
