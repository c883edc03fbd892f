"""Probes of single instructions: what the model says of each, in nanoseconds.

The sources measured isolated instructions on contiguous tiles of 128
partitions. A probe is the smallest program that holds the instruction, run
with values off and without synchronisation that it does not need:

* completion: the time of a program of one instruction;
* interval: what each further one of a stream adds. Instructions that also
  read what they write take turns between tiles, so as not to wait.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trnemu

Emit = Callable[[trnemu.ProgramBuilder], Any]


def program(target: str, emit: Emit) -> trnemu.Program:
    """What `emit` adds to a builder without automatic synchronisation."""
    b = trnemu.ProgramBuilder(target=target, name="probe", sync="explicit")
    emit(b)
    return b.build()


def time_of(target: str, emit: Emit, **options: Any) -> float:
    """Simulated nanoseconds of a program."""
    built = program(target, emit)
    return trnemu.run(built, {}, values=False, **options).time_ns


def repeated(make: Callable[[trnemu.ProgramBuilder], Callable[[], Any]],
             times: int) -> Emit:
    """`make` allocates and gives what emits one instruction."""

    def emit(b: trnemu.ProgramBuilder) -> None:
        one = make(b)
        for _ in range(times):
            one()

    return emit


def completion(target: str, make: Any, **options: Any) -> float:
    """Of one instruction alone."""
    return time_of(target, repeated(make, 1), **options)


def interval(target: str, make: Any, first: int = 8, more: int = 16,
             **options: Any) -> float:
    """Between two of a stream, after `first` of them."""
    early = time_of(target, repeated(make, first), **options)
    late = time_of(target, repeated(make, first + more), **options)
    return (late - early) / more


_LINE = re.compile(r" (\w+) \S+=.* ; ([\d.]+) to ([\d.]+) ns")


def logged(target: str, emit: Emit) -> list[tuple[str, float, float]]:
    """Opcode, start and end of each instruction, from the command's log."""
    command = os.environ.get("TRNEMU_BIN") or shutil.which("trnemu")
    if command is None:
        raise RuntimeError("set TRNEMU_BIN to the trnemu command")
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder, "p.trn"), Path(folder, "log")
        program(target, emit).save(str(path))
        subprocess.run(
            [command, "run", path, "--values", "off", "--log", log],
            check=True, stdout=subprocess.DEVNULL)
        found = (_LINE.search(line) for line in log.read_text().splitlines())
        return [(m[1], float(m[2]), float(m[3])) for m in found if m]


def latency(target: str, make: Any, passes: int, at: int) -> float:
    """Of matmul number `at` of a stream: from its first load to its result."""
    lines = [line for line in logged(target, repeated(make, at + 1))
             if line[0] in ("LoadStationary", "MultiplyMoving")]
    own = lines[2 * passes * at:2 * passes * (at + 1)]
    return own[-1][2] - own[0][1]


def tile(b: trnemu.ProgramBuilder, n: int, dtype: str = "float32",
         where: str = "sbuf", partitions: int = 128) -> Any:
    """A tile of n elements a partition."""
    return (b.sbuf if where == "sbuf" else b.psum)((partitions, n), dtype)


@functools.lru_cache(maxsize=None)
def table_load(target: str) -> float:
    """Of an activation table: what a change of the function adds."""

    def two(second: str) -> Emit:
        def emit(b: trnemu.ProgramBuilder) -> None:
            a, c, d = tile(b, 1), tile(b, 1), tile(b, 1)
            b.activation(dst=a, op="exp", data=c)
            b.activation(dst=d, op=second, data=c)

        return emit

    return time_of(target, two("tanh")) - time_of(target, two("exp"))


# ---- Instructions: each gives make(b) for completion and interval.


def copy(n: int, src: str, dst: str, engine: str, where: str = "sbuf",
         stride: int = 1, write_stride: int = 1) -> Any:
    def make(b: Any) -> Any:
        x = tile(b, n * stride, src, where)
        y = tile(b, n * write_stride, dst)
        return lambda: b.tensor_copy(
            dst=y[:, 0:n * write_stride:write_stride],
            src=x[:, 0:n * stride:stride], engine=engine)

    return make


def activate(op: str, n: int, src: str = "float32", dst: str = "float32",
             where: str = "sbuf", to: str = "sbuf", k: int = 0) -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n, src, where), tile(b, n, dst, to)
        given: dict[str, Any] = {}
        if k > 0:
            given["scale"] = tile(b, 1)
        if k > 1:
            given["bias"] = tile(b, 1)
        return lambda: b.activation(dst=y, op=op, data=x, **given)

    return make


def binary(n: int, dtypes: tuple[str, str, str],
           where: tuple[str, str] = ("sbuf", "sbuf"), op: str = "add") -> Any:
    def make(b: Any) -> Any:
        y = tile(b, n, dtypes[0])
        x = tile(b, n, dtypes[1], where[0])
        z = tile(b, n, dtypes[2], where[1])
        return lambda: b.tensor_tensor(dst=y, data1=x, data2=z, op=op,
                                       engine="vector")

    return make


def scalar(n: int, src: str = "float32", dst: str = "float32") -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n, src), tile(b, n, dst)
        return lambda: b.tensor_scalar(dst=y, data=x, op0="add", operand0=1.0,
                                       engine="vector")

    return make


def reduce(n: int, src: str = "float32", dst: str = "float32",
           where: str = "sbuf", op: str = "add") -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n, src, where), tile(b, 1, dst)
        return lambda: b.tensor_reduce(dst=y, op=op, data=x, axis=1)

    return make


def reciprocal(n: int) -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n), tile(b, n)
        return lambda: b.reciprocal(dst=y, data=x)

    return make


def scan(n: int, seed_is_tensor: bool = False) -> Any:
    def make(b: Any) -> Any:
        x, z, y = tile(b, n), tile(b, n), tile(b, n)
        seed = tile(b, 1) if seed_is_tensor else 0.0
        return lambda: b.tensor_tensor_scan(
            dst=y, data0=x, data1=z, initial=seed, op0="multiply", op1="add")

    return make


def memset(n: int, dtype: str = "float32", value: float = 1.0,
           engine: str = "vector") -> Any:
    def make(b: Any) -> Any:
        y = tile(b, n, dtype)
        return lambda: b.memset(dst=y, value=value, engine=engine)

    return make


def predicated(n: int, where: str = "sbuf") -> Any:
    def make(b: Any) -> Any:
        p = tile(b, n, "uint8")
        x = tile(b, n, "float32", where)
        ys = itertools.cycle([tile(b, n) for _ in range(4)])
        return lambda: b.tensor_copy_predicated(
            dst=next(ys), src=x, predicate=p)

    return make


def shuffle(n: int, dtype: str) -> Any:
    def make(b: Any) -> Any:
        x = tile(b, n, dtype, partitions=32)
        ys = itertools.cycle(
            [tile(b, n, dtype, partitions=32) for _ in range(4)])
        return lambda: b.nc_stream_shuffle(
            dst=next(ys), src=x, shuffle_mask=list(range(32)))

    return make


def vector_transpose(change: bool = False) -> Any:
    def make(b: Any) -> Any:
        x, y = b.sbuf((128, 32), "float32"), b.sbuf((128, 32), "float32")
        turn = [0]

        def one() -> None:
            q = 32 * (turn[0] % 2 if change else 0)
            turn[0] += 1
            b.nc_transpose(dst=y[q:q + 32, :], data=x[0:32, :],
                           engine="vector")

        return one

    return make


def affine_select(n: int) -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n), tile(b, n)
        return lambda: b.affine_select(
            dst=y, pattern=[[1, n]], channel_multiplier=1, on_true_tile=x,
            on_false_value=0.0, cmp_op="greater_equal")

    return make


def iota(n: int) -> Any:
    def make(b: Any) -> Any:
        y = tile(b, n, "int32")
        return lambda: b.iota(dst=y, pattern=[[1, n]])

    return make


def matmul(m: int, dtype: str = "float32", k: int = 128, n: int = 128,
           stride: int = 1, stationary_stride: int = 1,
           transpose: bool = False, **more: Any) -> Any:
    """`m` rows move past a stationary tile of k rows and n columns."""

    def make(b: Any) -> Any:
        w = tile(b, n * stationary_stride, dtype, partitions=k)
        x = tile(b, m * stride, dtype, partitions=k)
        y = tile(b, m, dtype if transpose else "float32", "psum", partitions=n)
        return lambda: b.nc_matmul(
            dst=y, stationary=w[:, 0:n * stationary_stride:stationary_stride],
            moving=x[:, 0:m * stride:stride], is_transpose=transpose,
            accumulate=False, **more)

    return make


def dma(row: int, partitions: int = 128, store: bool = False, rows: int = 1,
        **more: Any) -> Any:
    """A transfer of `rows` rows of `row` bytes a partition, to the same SBUF
    tile; several rows of a partition lie apart in HBM."""

    def make(b: Any) -> Any:
        n = row // 4
        h = b.scratch("x", (partitions, rows, n + (1 if rows > 1 else 0)),
                      "float32")
        h = h[:, :, 0:n]
        t = b.sbuf((partitions, rows, n), "float32")
        dst, src = (h, t) if store else (t, h)
        return lambda: b.dma_copy(dst=dst, src=src, **more)

    return make


def dma_time(target: str, make: Any, times: int = 1) -> float:
    """Of `times` transfers from one sequencer."""
    built = program(target, repeated(make, times))
    return trnemu.run(built, {}, values=False).time_ns


def dma_interval(target: str, make: Any, first: int = 8,
                 more: int = 16) -> float:
    """Between two transfers of a stream."""
    return (dma_time(target, make, first + more)
            - dma_time(target, make, first)) / more


def accumulating(n: int) -> Any:
    def make(b: Any) -> Any:
        x, y, r = tile(b, n), tile(b, n), tile(b, 1)
        return lambda: b.activation_reduce(dst=y, op="copy", data=x,
                                           reduce_op="add", reduce_res=r)

    return make


def two_steps(n: int, dtype: str) -> Any:
    def make(b: Any) -> Any:
        x, z, y = tile(b, n, dtype), tile(b, n, dtype), tile(b, n, dtype)
        return lambda: b.scalar_tensor_tensor(
            dst=y, data=x, op0="subtract", operand0=1.0, op1="multiply",
            operand1=z)

    return make


def bn_stats(n: int) -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n), tile(b, 6)
        return lambda: b.bn_stats(dst=y, data=x)

    return make


def bn_aggr(n: int) -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n), tile(b, 2)
        return lambda: b.bn_aggr(dst=y, data=x)

    return make


def max8(n: int) -> Any:
    def make(b: Any) -> Any:
        x, y = tile(b, n), tile(b, 8)
        return lambda: b.max8(dst=y, src=x)

    return make


def multiply_alone(target: str, make: Any) -> float:
    """From the start of the first multiplication to its result."""
    return next(end - start for opcode, start, end
                in logged(target, repeated(make, 1))
                if opcode == "MultiplyMoving")


def engine_time(target: str, make: Any) -> float:
    """How long a transfer of one part keeps its engine busy."""
    built = program(target, repeated(make, 1))
    profile = trnemu.run(built, {}, values=False).profile
    return profile.engines["dma"].busy_ns
