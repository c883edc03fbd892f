"""Random calls of selects, statistics, searches, gathers, random numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

from rules_draw import Basics
from rules_kit import ANY, ARITH, BITVEC, FP, INT
from rules_language import Tile

LOWEST = -3.4028234663852886e38


class Other(Basics):
    def tensor_copy_predicated(self) -> dict[str, Any]:
        shape = self.shape()
        dtype = self.random.choice(ANY)
        src = self.tile(self.near(shape), (dtype,))
        return {
            "dst": self.tile(self.near(shape), (dtype,)),
            "src": src if self.random.random() < 0.8 else self.number(),
            "predicate": self.tile(
                shape, ("uint8", "uint16", "uint32"), ("sbuf", "sbuf", "psum")),
            "reverse_pred": self.odd(),
        }

    def range_select(self) -> dict[str, Any]:
        shape = self.shape()
        floats = (FP, ("sbuf", "psum"))
        compares = ("equal", "less", "less_equal", "greater", "greater_equal")
        call = {
            "dst": self.tile(self.near(shape), *floats),
            "on_true_tile": self.tile(shape, *floats),
            "comp_op0": self.pick(compares, (*ARITH, *BITVEC)),
            "comp_op1": self.pick(compares, (*ARITH, *BITVEC)),
            "bound0": self.column(shape[0]), "bound1": self.column(shape[0]),
            "reduce_cmd": self.pick(("idle", "reset", "reduce", "reset_reduce"),
                                    ("load_reduce",)),
            "reduce_op": self.pick(("maximum",), ("minimum", "add")),
            "range_start": self.pick(
                (0, -3, 1000), (2**24 - 8, 2**24, 2**24 - 6, -(2**24),
                            -(2**24) - 1)),
            "on_false_value": self.pick((LOWEST,), (0.0, -LOWEST, -1e300)),
            "reduce_res": None,
        }
        if self.random.random() < 0.4:
            call["reduce_res"] = self.column(shape[0], FP)
        return call

    def select_reduce(self) -> dict[str, Any]:
        shape = self.shape()
        call = {
            "dst": self.tile(self.near(shape)),
            "predicate": self.tile(
                self.near(shape), ("int8", "uint8", "int16", "uint16")),
            "on_true": self.tile(
                shape, [d for d in ANY
                        if d not in ("tfloat32", "int32", "uint32")]),
            "on_false": self.scalar(shape[0]), "reduce_res": None,
            "reduce_cmd": self.pick(("idle", "reset_reduce", "reduce"),
                                    ("reset", "load_reduce")),
            "reduce_op": self.pick(("maximum",), ("minimum", "add")),
            "reverse_pred": self.odd(),
        }
        if self.random.random() < 0.4:
            call["reduce_res"] = self.column(shape[0], FP)
        return call

    def nc_stream_shuffle(self) -> dict[str, Any]:
        shape = self.shape()
        dtype = self.random.choice(ANY)
        src = self.tile(shape, (dtype,))
        wide = self.pick((shape[0],), (32, 33, 64, 65, 128, 20))
        dst = self.tile(self.near((wide, *shape[1:])), (dtype,))
        lanes = min(32, shape[0])
        mask = [self.random.choice((255, self.random.randrange(lanes)))
                for _ in range(32)]
        if shape[0] % 32:  # of the last quadrant, mostly
            lanes = self.pick((shape[0] % 32,), (lanes,))
            mask = [m if m == 255 else m % lanes for m in mask]
        if self.odd() and shape[0] <= 32:  # more partitions, fewer starts
            src = dataclasses.replace(src, start=32)
            dst = dataclasses.replace(
                dst, shape=(self.pick((33, 65), (96,)), *shape[1:]), start=0)
        if self.odd():
            mask[self.random.randrange(32)] = self.random.choice(
                (32, 31, 254, 256, -1))
        if self.odd():
            mask = self.random.choice((mask[:31], [*mask, 0], []))
        return {"dst": dst, "src": src, "shuffle_mask": mask}

    def bn_stats(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((1,), (512,), (8, 64), (7,)), ((513,), (2, 257), (1024,))))
        return {"dst": self.tile(self.near(self.pick(
                    ((shape[0], 6), (shape[0], 2, 3)), ((shape[0], 5),)))),
                "data": self.tile(shape)}

    def bn_aggr(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((3,), (6,), (4, 3), (2, 2, 3)), ((7,), (5,), (2, 2))))
        return {"dst": self.tile(self.near((shape[0], 2))),
                "data": self.tile(shape)}

    def searched(self) -> tuple[int, ...]:
        return (self.random.choice((1, 4, 128)), *self.pick(
            ((8,), (2, 64), (4096,)), ((7,), (1,), (16385,), (2, 2, 4))))

    def max8(self) -> dict[str, Any]:
        shape = self.searched()
        dst = self.pick(((shape[0], 8),), ((shape[0], 2, 4), (shape[0], 7)))
        return {"dst": self.tile(self.near(dst)),
                "src": self.tile(shape, ANY, ("sbuf",))}

    def eight(self, p: int, dtypes: Any) -> Tile:
        return self.tile(self.near(self.pick(
            ((p, 8), (p, 2, 4)), ((p, 7), (p, 2, 2, 2)))), dtypes)

    def nc_find_index8(self) -> dict[str, Any]:
        shape = self.searched()
        return {"dst": self.eight(shape[0], ("uint16", "uint32")),
                "data": self.tile(shape, ANY, ("sbuf",)),
                "vals": self.eight(shape[0], ANY)}

    def nc_match_replace8(self) -> dict[str, Any]:
        shape = self.searched()
        call = {"dst": self.tile(self.near(shape), ANY, ("sbuf",)),
                "data": self.tile(shape, ANY, ("sbuf",)),
                "vals": self.eight(shape[0], ANY),
                "imm": self.number(), "dst_idx": None}
        if self.random.random() < 0.5:
            call["dst_idx"] = self.eight(shape[0], ("uint32",))
        return call

    def tensor_partition_reduce(self) -> dict[str, Any]:
        shape = self.shape()
        bitwise = self.odd()
        dtypes = self.pick((INT,), (ANY,)) if bitwise else ANY
        return {
            "dst": self.tile(self.near((1, *shape[1:])), dtypes, ("sbuf",)),
            "op": self.random.choice(
                ("bitwise_or", "bitwise_and") if bitwise
                else ("add", "average", "maximum")),
            "data": self.tile(shape, dtypes, ("sbuf",)),
        }

    def sequence_bounds(self) -> dict[str, Any]:
        n = self.random.choice((1, 4, 9))
        dtypes = ("float32", "int32")
        return {
            "dst": self.tile(self.near((1, 2, n)), dtypes, ("sbuf",)),
            "segment_ids": self.tile(self.near((1, n)), dtypes, ("sbuf",)),
        }

    def local_gather(self) -> dict[str, Any]:
        p = self.pick((16, 32, 128), (8, 17, 100))
        each = self.pick((1, 2, 3), (256, 257))
        run = self.pick((1, 2, 4, 8, 16, 32), (0, 3, 64, -1))
        valid = self.pick((None, 16 * each, 16 * each - 5),
                          (4096, 4097, 16 * each + 1, 0))
        n = 16 * each if valid is None else valid
        dtype = self.random.choice(ANY)
        return {
            "dst": self.tile(self.near((p, max(1, n * run))), (dtype,),
                             ("sbuf",)),
            "src_buffer": self.tile((p, 40), (dtype,), ("sbuf",)),
            "index": self.tile(self.near((p, each)), ("uint16",), ("sbuf",)),
            "num_elem_per_idx": run, "num_valid_indices": valid,
        }

    def nc_n_gather(self) -> dict[str, Any]:
        shape = self.shape()
        dtype = self.random.choice(ANY)
        return {
            "dst": self.tile(self.near(shape), (dtype,), ("sbuf",)),
            "data": self.tile(self.near((shape[0], 7)), (dtype,), ("sbuf",)),
            "indices": self.tile(shape, ("uint32",), ("sbuf",)),
        }

    def nonzero_with_count(self) -> dict[str, Any]:
        p = self.random.choice((1, 16, 128))
        edges = (0, -1, 2**31 - 1, -(2**31))
        past = (2**31, -(2**31) - 1)
        return {
            "dst": self.tile(self.near((p, 9)), ("int32",), ("sbuf",)),
            "src": self.tile(self.near((p, 8)), ("int32", "float32"),
                             ("sbuf",)),
            "index_offset": self.pick(edges, past),
            "padding_val": self.pick(edges, past),
        }

    def topk(self) -> dict[str, Any]:
        p = self.pick((16, 48, 128), (1, 24))
        n = self.pick((8, 17, 42, 48), (7, 49, 65535, 65536, 0))
        k = self.pick((1, 8), (n, n + 1, 32768))
        return {
            "val_dst": self.tile(self.near((p, max(1, k))), ("bfloat16",),
                                 ("sbuf",)),
            "idx_dst": self.tile(self.near((p, max(1, k))), ("uint32",),
                                 ("sbuf",)),
            "src": self.tile((p, self.pick((3,), (2, 4096))), ("bfloat16",),
                             ("sbuf",)),
            "n": n,
        }

    def rng(self) -> dict[str, Any]:
        return {"dst": self.tile(self.shape(), INT),
                "engine": self.engine(("vector", "gpsimd"))}

    def rand2(self) -> dict[str, Any]:
        shape = self.shape()
        return {
            "dst": self.tile(shape),
            "min": self.pick((0, -1.5, self.column(shape[0])), (1.0, 2)),
            "max": self.pick((1.0, 2, self.column(shape[0])), (0, -2.0)),
        }

    def state(self) -> dict[str, Any]:
        engine = self.engine(("vector", "gpsimd"))
        words = 24 if engine == "vector" else 6
        free = self.pick(((words,),), ((30 - words,), (2, words // 2), (7,)))
        return {"tile": self.tile((self.random.choice((1, 128)), *free),
                                  ("uint32",), ("sbuf",)),
                "engine": engine}

    def rand_set_state(self) -> dict[str, Any]:
        call = self.state()
        return {"src_seeds": call.pop("tile"), **call}

    def rand_get_state(self) -> dict[str, Any]:
        call = self.state()
        return {"dst": call.pop("tile"), **call}

    def set_rng_seed(self) -> dict[str, Any]:
        return {"src_seeds": self.tile(
            self.pick(((1, 1),), ((2, 1), (1, 2), (1, 1, 1))),
            ("int32", "uint32", "float32", "tfloat32"))}

    def dropout(self) -> dict[str, Any]:
        shape = self.shape()
        data = self.tile(shape)
        return {
            "dst": self.tile(self.near(shape), (data.dtype,)), "data": data,
            "prob": self.pick(
                (0.0, 0.5, 1, self.column(shape[0])),
                (self.column(shape[0], FP), self.column(shape[0], ANY))),
        }
