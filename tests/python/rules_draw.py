"""Random calls of operations: what all draws share, and those of the tensor
engine, DMA and the cores."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

from rules_kit import ANY, ANYX, ARITH_BIN, ARITH_UN, BITVEC_BIN, FP, FP8, INT, X4
from rules_language import MXSCALE, Tile

# Those that may be of a program of two cores.
CORES = ("core_barrier", "sendrecv")


class Basics:
    """Random calls, mostly legal: each choice is odd once in a while."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.odds = 0.06

    def odd(self) -> bool:
        return self.random.random() < self.odds

    def pick(self, usual: Any, odd: Any) -> Any:
        return self.random.choice(odd if self.odd() else usual)

    def shape(self) -> tuple[int, ...]:
        p = self.random.choice((1, 4, 32, 33, 64, 65, 128))
        return (p, *self.random.choice(((8,), (2, 3), (1,), (5, 1, 2), (33,))))

    def near(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """`shape`, or once in a while another."""
        if not self.odd():
            return shape
        at = self.random.randrange(len(shape))
        other = max(1, shape[at] + self.random.choice((-1, 1, 2)))
        return (*shape[:at], min(other, 128), *shape[at + 1 :])

    def tile(self, shape: tuple[int, ...], dtypes: Any = ANY,
             buffers: Any = ("sbuf", "sbuf", "psum"),
             odd_dtypes: Any = ANYX) -> Tile:
        start = 0
        if self.odd():
            start = self.random.choice((1, 32, 48, 64, 96))
            start = start if start + shape[0] <= 128 else 0
        return Tile(self.pick(buffers, ("sbuf", "psum", "hbm")), shape,
                    self.pick(dtypes, odd_dtypes), start)

    def column(self, p: int, dtypes: Any = ("float32",)) -> Tile:
        return self.tile(self.near((p, 1)), dtypes)

    def number(self) -> float:
        return self.random.choice((0, 0.0, 1, 2.0, 0.5, -3.0))

    def engine(self, legal: Any) -> str:
        return self.pick(("unknown", *legal),
                         ("vector", "scalar", "gpsimd", "tensor", "sync"))

    def call(self, operation: str) -> dict[str, Any]:
        return getattr(self, operation)()

    def place(self, operation: str) -> tuple[int, int]:
        """Cores of the program, and the one that executes the call."""
        if operation not in CORES or self.odd():
            return 1, 0
        return 2, self.random.randrange(2)

    def kinds(self) -> tuple[Any, Any]:
        """Operations and dtypes that go together, mostly."""
        if self.random.random() < 0.3:
            return BITVEC_BIN, self.pick((INT,), (ANY,))
        return tuple(o for o in ARITH_BIN if not o.startswith("abs_")), ANY

    def scalar(self, p: int) -> Any:
        return (self.column(p) if self.random.random() < 0.3
                else self.number())

    def affine(self) -> dict[str, Any]:
        pattern = self.random.choice(
            ([[1, 8]], [[4, 2], [1, 4]], [[1, 2], [0, 2], [3, 1], [-1, 2]]))
        return {
            "pattern": pattern,
            "offset": self.pick((0, -5, 100), (2**31 - 1, 2**31, -(2**31))),
            "channel_multiplier": self.pick(
                (0, 1, -3), (2**31, -(2**31) - 1, -(2**31))),
        }

    def unary(self, call: dict[str, Any], operand: str) -> None:
        """Once in a while an op0 of one operand."""
        if self.odd() or self.odd():
            call["op0"] = self.random.choice(ARITH_UN)
            call[operand] = self.pick((0, 0.0), (1.0, self.column(4)))


class TensorAndDma(Basics):
    def core_barrier(self) -> dict[str, Any]:
        return {
            "data": self.tile(self.shape(), ANYX, ("hbm",)),
            "cores": self.pick(((0, 1), (1, 0)), (
                (0,), (1,), (1, 1), (), (2,), (0, 2), (-1, 0), (0, 1, 0))),
            "engine": self.pick(("unknown", "gpsimd", "sync", "vector"),
                                ("dma", "scalar", "tensor")),
        }

    def sendrecv(self) -> dict[str, Any]:
        p, f = self.random.choice((1, 4, 128)), self.pick((8, 256), (257, 512))
        src = self.tile((p, f), ANYX, ("sbuf",))
        return {
            "src": src,
            "dst": self.tile(self.near((p, f)), (src.dtype,), ("sbuf",)),
            "send_to_rank": self.pick((0, 1), (-1, 2)),
            "recv_from_rank": self.pick((0, 1), (-1, 2)),
            "pipe_id": self.random.randrange(4),
            "dma_engine": self.random.choice(("dma", "gpsimd_dma")),
        }

    def dma_copy(self) -> dict[str, Any]:
        shape = self.shape()
        src = self.tile(shape, ANYX, ("hbm", "sbuf"))
        call = {
            "dst": self.tile(self.near(shape), (src.dtype,), ("hbm", "sbuf")),
            "src": src,
            "dge_mode": self.pick(("unknown", "none", "swdge"), ("hwdge",)),
            "priority": self.pick((None,), (0, 3, 4, -1)),
            "queues": self.pick((16, 1), (0, 17)),
            "oob_mode": "error",
        }
        if self.odd():
            call["engine"] = self.random.choice(("sync", "scalar", "vector"))
        if self.odd():
            call["dge_mode"] = "hwdge"
            call["dst"] = dataclasses.replace(call["dst"], dtype="float16")
        return call

    def nc_matmul(self) -> dict[str, Any]:
        k, m = (self.random.choice((1, 4, 32, 64, 128)) for _ in "km")
        n = self.pick((4, 512), (4, 513, 4097, 8193, k))
        m = self.pick((m,), (129, 4))
        transpose = self.random.random() < 0.2
        if transpose:
            n = self.pick((k,), (4,))
        st = self.pick(("bfloat16", "float32", "float8_e5m2"), FP)
        mv = self.pick((st,), FP)
        if self.odd():
            st, mv = self.random.sample(FP8, 2)
        call = {
            "dst": self.tile(self.near((min(m, 128), n)), ("float32",),
                             ("psum",), ("bfloat16", "float16", "int32", st)),
            "stationary": self.tile(self.near((k, m)), (st,), ("sbuf",)),
            "moving": self.tile((k, n), (mv,), ("sbuf",), (mv,)),
            "is_transpose": transpose, "perf_mode": "none",
            "tile_position": (), "tile_size": (),
        }
        if self.random.random() < 0.2:
            self.double_row(call, k, m, n)
        if self.random.random() < 0.3:
            rows = self.pick((64, 128), (32, 16, 96))
            columns = self.pick((64, 128), (32, 256))
            row, column = (self.pick((0,), (32, 64, 128)) for _ in "rc")
            call["tile_size"] = (rows, columns)
            call["tile_position"] = (row, column)
            if self.odd():
                call[self.random.choice(("tile_size", "tile_position"))] = ()
            else:
                for name, start in (("stationary", row), ("moving", row),
                                    ("dst", column)):
                    t = call[name]
                    if start + t.shape[0] <= 128 and (
                        self.random.random() < 0.8
                    ):
                        call[name] = dataclasses.replace(t, start=start)
        return call

    def double_row(self, call: dict[str, Any], k: int, m: int, n: int) -> None:
        """Turns a matmul into one of float8 tiles of two rows a partition."""
        call["perf_mode"] = "double_row"
        call["is_transpose"] = self.pick((False,), (True,))
        for name, columns in (("stationary", m), ("moving", n)):
            shape = self.pick(((k, 2, columns),), ((k, 2 * columns),
                                                   (k, 1, columns)))
            call[name] = self.tile(
                self.near(shape), self.pick((FP8[:2],), (FP,)), ("sbuf",), FP8)

    def scales(self, k: int, columns: int, start: int) -> Tile:
        """A view of MX scales for k partitions that begin at `start`."""
        rows = max(1, 32 * (k // 32 - 1) + 4)
        if self.odd():
            rows = self.random.choice((max(1, rows - 1), rows + 1, 128))
        if self.odd():
            start = self.random.choice((0, 32, 64, 96))
        start += self.pick((0, 4, 8, 12), (1, 2, 16, 20))
        return Tile(self.pick(("sbuf",), ("psum", "hbm")),
                    self.near((min(rows, 128 - start), columns)),
                    self.pick(MXSCALE, ("int8", "float32")), start)

    def quadrant(self, k: int) -> int:
        """A legal start for k partitions."""
        return self.random.choice(
            (0, 32, 64, 96) if k <= 32 else (0, 64) if k <= 64 else (0,))

    def nc_matmul_mx(self) -> dict[str, Any]:
        k = self.pick((32, 64, 96, 128), (1, 33, 100))
        m = self.pick((2, 4, 128), (1, 3, 130))
        n = self.pick((4, 33), (4096, 4097, 8193))
        start = self.quadrant(k)
        call: dict[str, Any] = {
            "dst": self.tile(self.near((min(m, 128), n)),
                             ("float32", "bfloat16"), ("psum",)),
            "tile_position": None, "tile_size": None,
        }
        for name, columns in (("stationary", m), ("moving", n)):
            tile = self.tile(self.near((k, columns)), X4, ("sbuf",))
            at = start if start + tile.shape[0] <= 128 else 0
            call[name] = dataclasses.replace(tile, start=at)
            call[f"{name}_scale"] = self.scales(k, columns, at)
        if self.random.random() < 0.4:
            rows = self.pick((k if k in (32, 64) else 128,), (32, 64, 96))
            call["tile_size"] = (rows, self.pick((128,), (64,)))
            call["tile_position"] = (
                self.pick((start,), (0, 32, 64, 128)), self.pick((0,), (32,)))
            if self.odd():
                call[self.random.choice(("tile_size", "tile_position"))] = None
        return call

    def quantize_mx(self) -> dict[str, Any]:
        p = self.pick((32, 64, 96, 128), (1, 33, 100))
        f = self.pick((4, 8, 32), (1, 6))
        start = self.quadrant(p)
        src = dataclasses.replace(
            self.tile((p, f), ("float16", "bfloat16"), ("sbuf",)), start=start)
        columns = max(1, f // 4)
        return {
            "dst": self.tile(self.near((p, columns)), X4[:2], ("sbuf",)),
            "src": src, "dst_scale": self.scales(p, columns, start),
        }

    def nc_transpose(self) -> dict[str, Any]:
        p, f = (self.random.choice((1, 4, 32)) for _ in "pf")
        if self.odd():
            p, f = self.random.choice(((33, 4), (4, 33), (128, 128), (4, 129)))
        data = self.tile((p, f), ANY, ("sbuf",))
        dst = self.tile(self.near((min(f, 128), p)), (data.dtype,))
        return {"dst": dst, "data": data,
                "engine": self.engine(("unknown", "unknown"))}
