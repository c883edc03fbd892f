"""Random calls of operations that work element by element."""

from __future__ import annotations

from typing import Any

from rules_draw import Basics
from rules_kit import ANY, ARITH, ARITH_BIN, ARITH_UN, BITVEC, BITVEC_BIN, CMP, FP
from test_rules_activation import FUNCTIONS


class Elementwise(Basics):
    def activation(self) -> dict[str, Any]:
        shape = self.shape()
        call = {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op": self.random.choice((*FUNCTIONS, "prelu")), "bias": None,
            "scale": 1.0, "reduce_op": None, "reduce_res": None,
            "reduce_cmd": "idle",
        }
        if self.random.random() < 0.3:
            call["scale"] = self.column(shape[0])
        if self.random.random() < 0.4:
            call["bias"] = self.column(shape[0], ("float32", "bfloat16"))
            if self.random.random() < 0.3:
                call["bias"] = self.number()
        if self.random.random() < 0.4:
            call["reduce_op"] = self.pick(("add",), ("maximum", "multiply"))
            call["reduce_cmd"] = self.pick(
                ("reset", "reduce", "reset_reduce"), ("load_reduce",))
            if self.random.random() < 0.5:
                call["reduce_res"] = self.column(shape[0], FP)
        return call

    def tensor_tensor(self) -> dict[str, Any]:
        shape = self.shape()
        ops, dtypes = self.kinds()
        if self.random.random() < 0.1:
            dtypes = ("int32", "uint32")
        return {
            "dst": self.tile(self.near(shape), dtypes),
            "data1": self.tile(self.near(shape), dtypes),
            "data2": self.tile(self.near(shape), dtypes, ("sbuf",)),
            "op": self.pick(ops, (*ARITH, *BITVEC)),
            "engine": self.engine(("vector", "unknown", "unknown")),
        }

    def tensor_scalar(self) -> dict[str, Any]:
        shape = self.shape()
        ops, dtypes = self.kinds()
        whole = ops is BITVEC_BIN
        call = {
            "dst": self.tile(self.near(shape), dtypes),
            "data": self.tile(shape, dtypes),
            "op0": self.pick(ops, (*ARITH, *BITVEC)),
            "operand0": 3 if whole else self.scalar(shape[0]),
            "op1": None, "operand1": None,
            "engine": self.engine(("vector", "unknown", "unknown")),
        }
        if self.odd():
            call["op0"], call["operand0"] = (
                self.random.choice(ARITH_UN), self.pick((None, 0), (1.0,)))
            if self.odd():
                call["engine"] = "gpsimd"
        if self.odd():
            call["operand0"] = None
        if self.odd():
            call["op0"], call["engine"] = "multiply", "scalar"
        if self.random.random() < 0.4:
            call["op1"] = self.pick(ops, (*ARITH, *BITVEC))
            call["operand1"] = 5 if whole else self.scalar(shape[0])
        if self.odd():
            call["operand1"] = self.pick((1.0,), (None,))
        return call

    def scalar_tensor_tensor(self) -> dict[str, Any]:
        shape = self.shape()
        ops = tuple(o for o in ARITH_BIN if not o.startswith("abs_"))
        return {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op0": self.pick(ops, (*ARITH, *BITVEC)),
            "operand0": (self.column(shape[0], ANY) if self.odd()
                         else self.number()),
            "op1": self.pick(ops, (*ARITH, *BITVEC)),
            "operand1": self.tile(self.near(shape), ANY, ("sbuf",)),
        }

    def tensor_reduce(self) -> dict[str, Any]:
        p = self.random.choice((1, 4, 64))
        free = self.random.choice(((8,), (2, 3), (2, 3, 5), (2, 1, 3, 2)))
        rank = len(free) + 1
        count = self.random.randint(1, len(free))
        axes = list(range(rank - count, rank))
        self.random.shuffle(axes)
        axis: Any = tuple(
            a - rank if self.random.random() < 0.3 else a for a in axes
        )
        if count == 1 and self.random.random() < 0.5:
            axis = axis[0]
        dst = (p, *free[: len(free) - count]) if count < len(free) else (p, 1)
        if self.odd():
            axis = self.random.choice((0, 1, (0, 1), -rank, rank))
        ops, dtypes = self.kinds()
        ops = ("bitwise_and", "bitwise_or", "bitwise_xor") if (
            ops is BITVEC_BIN) else ("add", "maximum", "subtract")
        return {
            "dst": self.tile(self.near(dst), dtypes),
            "data": self.tile((p, *free), dtypes),
            "op": self.pick(ops, (*ARITH, *BITVEC)), "axis": axis,
            "negate": self.random.random() < 0.3, "keepdims": self.odd(),
        }

    def tensor_copy(self) -> dict[str, Any]:
        shape = self.shape()
        return {
            "dst": self.tile(self.near(shape)), "src": self.tile(shape),
            "engine": self.engine(("vector", "scalar", "unknown")),
        }

    def memset(self) -> dict[str, Any]:
        return {
            "dst": self.tile(self.shape()),
            "value": self.pick((0, 0.0, 1, 7.0),
                               (127, 128, -1, 256, 0.5, 2**31, 2**32, -129)),
            "engine": self.engine(("vector", "unknown")),
        }

    def reciprocal(self) -> dict[str, Any]:
        shape = self.shape()
        return {"dst": self.tile(self.near(shape)), "data": self.tile(shape)}

    def iota(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((8,), (2, 4)), ((7,), (9,))))
        return {"dst": self.tile(shape, ANY, ("sbuf",)), **self.affine()}

    def affine_select(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((8,), (2, 4)), ((7,), (9,))))
        return {
            "dst": self.tile(shape, ANY, ("sbuf",)),
            "on_true_tile": self.tile(self.near(shape), ANY, ("sbuf",)),
            "on_false_value": self.random.choice((0.0, -1.5)),
            "cmp_op": self.pick(CMP, (*ARITH, *BITVEC)), **self.affine(),
        }

    def activation_reduce(self) -> dict[str, Any]:
        call = self.activation()
        del call["reduce_cmd"]
        call["reduce_op"] = self.pick(("add",), ("maximum", "multiply"))
        return call

    def activate2(self) -> dict[str, Any]:
        shape = self.shape()
        ops = (("multiply", "add"), ("multiply", "subtract"),
               ("multiply", "bypass"), ("add", "bypass"),
               ("subtract", "bypass"), ("bypass", "bypass"))
        op0, op1 = self.pick(ops, (("add", "add"), ("bypass", "add"),
                                   ("maximum", "bypass"),
                                   ("multiply", "multiply")))
        call = {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op": self.random.choice((*FUNCTIONS, "prelu")),
            "imm0": self.scalar(shape[0]), "imm1": self.scalar(shape[0]),
            "op0": op0, "op1": op1, "relu_param": 0.0,
            "reverse0": op0 != "bypass" and self.random.random() < 0.3,
            "reverse1": op1 != "bypass" and self.random.random() < 0.3,
            "reduce_op": None, "reduce_res": None, "reduce_cmd": "idle",
        }
        if self.odd():
            call[self.random.choice(("reverse0", "reverse1"))] = True
        if self.random.random() < 0.2:
            call["relu_param"] = self.column(shape[0], ANY)
        if self.random.random() < 0.4:
            call["reduce_op"] = self.pick(
                ("add", "maximum", "minimum", "abs_max", "abs_min"),
                (None, "multiply", "subtract"))
            call["reduce_cmd"] = self.pick(
                ("reset", "reduce", "reset_reduce"), ("load_reduce",))
            call["reduce_res"] = self.column(shape[0], ANY)
        return call

    def tensor_scalar_reduce(self) -> dict[str, Any]:
        shape = self.shape()
        call = {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op0": self.pick(ARITH_BIN, BITVEC),
            "operand0": self.scalar(shape[0]),
            "reduce_op": self.pick(("add", "multiply", "maximum", "minimum"),
                                   ("subtract", "logical_or", "bitwise_or")),
            "reduce_res": None, "reverse0": self.odd() and self.odd(),
            "reduce_cmd": self.pick(("reset_reduce", "reduce", "load_reduce"),
                                    ("idle", "reset")),
            "reduce_init": None, "reduce_res_negate": self.odd(),
        }
        self.unary(call, "operand0")
        if self.odd():
            call["operand0"] = None
        if self.random.random() < 0.5:
            call["reduce_res"] = self.column(shape[0], ANY)
        if (call["reduce_cmd"] == "load_reduce") != self.odd():
            call["reduce_init"] = self.scalar(shape[0])
        return call

    def tensor_scalar_cumulative(self) -> dict[str, Any]:
        shape = self.shape()
        dtypes = ("bfloat16", "float16", "float32", "float8_e4m3",
                  "float8_e5m2", "uint8", "uint16", "int8", "int16")
        call = {
            "dst": self.tile(self.near(shape), dtypes),
            "src": self.tile(shape, dtypes),
            "op0": self.pick(ARITH_BIN, BITVEC),
            "op1": self.pick(
                ("add", "subtract", "multiply", "maximum", "minimum"),
                ("logical_or", "abs_max", "power", "bitwise_or")),
            "imm0": self.scalar(shape[0]), "imm1": None,
            "reduce_cmd": self.pick(("reset_reduce", "reduce", "load_reduce"),
                                    ("idle", "reset")),
        }
        self.unary(call, "imm0")
        if (call["reduce_cmd"] == "load_reduce") != self.odd():
            call["imm1"] = self.scalar(shape[0])
        return call

    def tensor_tensor_scan(self) -> dict[str, Any]:
        shape = self.shape()
        return {
            "dst": self.tile(self.near(shape)),
            "data0": self.tile(self.near(shape)),
            "data1": self.tile(self.near(shape), ANY, ("sbuf",)),
            "initial": self.scalar(shape[0]),
            "op0": self.pick(ARITH_BIN, (*ARITH_UN, *BITVEC)),
            "op1": self.pick(ARITH_BIN, (*ARITH_UN, *BITVEC)),
            "reverse0": self.odd(), "reverse1": self.odd(),
        }

    def exponential(self) -> dict[str, Any]:
        shape = self.pick((self.shape(),), ((4, 2, 1, 2, 2), (4, 1, 1, 1, 8)))
        res = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32")
        whole = ("int8", "int16", "int32", "uint8", "uint16")
        call = {
            "dst": self.tile(self.near(shape), (*res, "tfloat32", *whole)),
            "src": self.tile(shape, (*res, "uint32", *whole)),
            "max_value": self.scalar(shape[0]), "reduce_res": None,
            "reduce_cmd": self.pick(
                ("idle", "reset_reduce", "reduce", "load_reduce"), ("reset",)),
            "reduce_init": 0.0,
        }
        if self.random.random() < 0.5:
            call["reduce_res"] = self.column(shape[0], res)
        if (call["reduce_cmd"] == "load_reduce") != self.odd():
            call["reduce_init"] = self.column(shape[0])
        return call
