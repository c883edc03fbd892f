"""The lowerings: one function per family of ATen operators.

An operator's result has torch's dtype and is rounded to it once; inside, the
engines compute in float32 (docs/pytorch.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from trnemu._trnemu import View
from trnemu.torch._registry import find, lowering
from trnemu.torch._tensors import FLOAT_DTYPES, dtype_name
from trnemu.torch._values import (
    CHUNK,
    CONSTANT,
    FEATURES,
    MOVING,
    PARTITIONS,
    ROWS,
    Constant,
    Context,
    Matrix,
    Value,
    matrix_of,
    spans,
)

aten = torch.ops.aten
Tensor = Value | Constant
Node = torch.fx.Node

# Elements per partition that softmax takes at a time.
_SOFTMAX_CHUNK = 4096


def _shape_of(value: Tensor) -> tuple[int, ...]:
    return value.array.shape if isinstance(value, Constant) else value.shape


def _result(node: Node) -> tuple[tuple[int, ...], str]:
    """The shape and dtype torch gives a node."""
    meta = node.meta["val"]
    return tuple(int(n) for n in meta.shape), FLOAT_DTYPES[meta.dtype]


def _layout(value: Tensor) -> str | None:
    """How a tensor lies; None if either way costs the same."""
    return None if isinstance(value, Constant) else value.matrix.layout


# Element by element -----------------------------------------------------------


def _each_block(
    ctx: Context,
    out: Value,
    operands: Sequence[Matrix],
    emit: Callable[..., None],
) -> Value:
    """emit(dst, *tiles) for every part of `out` and matrices laid out as it."""
    for block in range(len(out.matrix.blocks)):
        for start, end in spans(out.matrix.inner, CHUNK):
            tiles = [ctx.read(m, block, start, end) for m in operands]
            dst = ctx.place(out.matrix, block, start, end)
            emit(dst, *tiles)
            ctx.written(out.matrix, block, start, end, dst)
    return out


def _unary(
    ctx: Context, node: Node, x: Tensor, emit: Callable[[View, View], None]
) -> Value:
    shape, dtype = _result(node)
    layout = _layout(x) or ctx.preference(node)
    out = ctx.new(shape, dtype, layout)
    return _each_block(ctx, out, [ctx.laid_out(x, layout)], emit)


def _activation(ctx: Context, node: Node, x: Tensor, function: str) -> Value:
    def emit(dst: View, tile: View) -> None:
        ctx.b.activation(dst=dst, op=function, data=tile, name=node.name)

    return _unary(ctx, node, x, emit)


def _scaled(ctx: Context, node: Node, x: Tensor, factor: float) -> Value:
    def emit(dst: View, tile: View) -> None:
        ctx.b.tensor_scalar(
            dst=dst, data=tile, op0="multiply", operand0=factor, name=node.name
        )

    return _unary(ctx, node, x, emit)


# What a product may apply on its way out of PSUM, by operator.
_FUNCTIONS = {
    aten.relu.default: "relu",
    aten.tanh.default: "tanh",
    aten.sigmoid.default: "sigmoid",
    aten.exp.default: "exp",
}


@lowering(*_FUNCTIONS, layout="same", note="scalar engine")
def _function(ctx: Context, node: Node, x: Tensor) -> Value:
    return _activation(ctx, node, x, _FUNCTIONS[node.target])


_GELU = {"none": "gelu", "tanh": "gelu_apprx_tanh"}


@lowering(aten.gelu.default, layout="same", note='approximate="none" and "tanh"')
def _gelu(ctx: Context, node: Node, x: Tensor, *, approximate: str = "none") -> Value:
    return _activation(ctx, node, x, _GELU[approximate])


@lowering(aten.neg.default, layout="same", note="times -1")
def _neg(ctx: Context, node: Node, x: Tensor) -> Value:
    return _scaled(ctx, node, x, -1.0)


@lowering(
    aten._to_copy.default,
    layout="same",
    check=lambda node: _cast_problem(node),
    note="between float32, bfloat16 and float16",
)
def _cast(ctx: Context, node: Node, x: Tensor, **_: Any) -> Value:
    def emit(dst: View, tile: View) -> None:
        ctx.b.tensor_copy(dst=dst, src=tile, name=node.name)

    return _unary(ctx, node, x, emit)


def _cast_problem(node: Node) -> str | None:
    device = node.kwargs.get("device")
    if device is not None and torch.device(device).type != "cpu":
        return f"moves data to {device}"
    return None


@lowering(
    aten.clone.default,
    aten.alias.default,
    aten.detach.default,
    aten.lift_fresh_copy.default,
    layout="same",
    note="no instructions",
)
def _same(ctx: Context, node: Node, x: Value, **_: Any) -> Value:
    return x


# Binary operations --------------------------------------------------------------


def _number(value: Any) -> float | None:
    """The number an operand stands for: a Python one, or a constant of one
    element."""
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, Constant) and value.array.size == 1:
        return float(value.array.reshape(()))
    return None


def _tensor_with_number(
    ctx: Context, node: Node, x: Tensor, op: str, number: float, reverse: bool
) -> Value:
    def emit(dst: View, tile: View) -> None:
        ctx.b.tensor_scalar(
            dst=dst,
            data=tile,
            op0=op,
            operand0=number,
            reverse0=reverse,
            name=node.name,
        )

    return _unary(ctx, node, _broadcast(ctx, x, _result(node)[0]), emit)


def _broadcast(ctx: Context, value: Tensor, shape: Sequence[int]) -> Tensor:
    """The tensor repeated to `shape`, as torch broadcasts."""
    have = _shape_of(value)
    if math.prod(have) == math.prod(shape):
        if isinstance(value, Value) and have != tuple(shape):
            return Value(shape, value.matrix)  # only leading ones
        return value
    padded = (1,) * (len(shape) - len(have)) + tuple(have)
    # Neighbouring axes that are all repeated, or all not, move as one.
    sizes: list[int] = []
    wanted: list[int] = []
    kinds: list[bool] = []
    for size, want in zip(padded, shape):
        if want == 1:
            continue
        if kinds and kinds[-1] == (size != want):
            sizes[-1] *= size
            wanted[-1] *= want
        else:
            sizes.append(size)
            wanted.append(want)
            kinds.append(size != want)
    view = ctx.in_hbm(value).reshape(sizes)
    for axis, repeated in enumerate(kinds):
        if repeated:
            view = view.broadcast(axis, wanted[axis])
    return ctx.gathered(view, shape)


def _common_layout(ctx: Context, node: Node, operands: Sequence[Tensor]) -> str:
    """A layout in which most of the operands lie already."""
    layouts = {_layout(v) for v in operands} - {None}
    if len(layouts) == 1:
        return layouts.pop()
    return ctx.preference(node)


def _binary(ctx: Context, node: Node, a: Any, b: Any, op: str) -> Value:
    """a op b, with broadcasting; one of them may be a number."""
    number = _number(b)
    if number is not None and _number(a) is None:
        return _tensor_with_number(ctx, node, a, op, number, False)
    number = _number(a)
    if number is not None:
        return _tensor_with_number(ctx, node, b, op, number, True)
    shape, dtype = _result(node)
    rows, features = matrix_of(shape)
    size = math.prod(shape)
    sizes = [math.prod(_shape_of(v)) for v in (a, b)]
    if sizes[0] == sizes[1] == size:
        a, b = (_broadcast(ctx, v, shape) for v in (a, b))
        return _tensor_with_tensor(ctx, node, a, b, op)
    for full, part, reverse in ((a, b, False), (b, a, True)):
        if math.prod(_shape_of(full)) != size:
            continue
        part_shape = _shape_of(part)
        if part_shape[-1:] == (features,) and math.prod(part_shape) == features:
            return _tensor_with_row(ctx, node, full, part, op, reverse)
        if part_shape == (*shape[:-1], 1):
            return _tensor_with_column(ctx, node, full, part, op, reverse)
    a, b = (_broadcast(ctx, v, shape) for v in (a, b))
    return _tensor_with_tensor(ctx, node, a, b, op)


def _tensor_with_tensor(
    ctx: Context, node: Node, a: Tensor, b: Tensor, op: str
) -> Value:
    shape, dtype = _result(node)
    out = ctx.new(shape, dtype, _common_layout(ctx, node, [a, b]))

    def emit(dst: View, x: View, y: View) -> None:
        ctx.b.tensor_tensor(dst=dst, data1=x, data2=y, op=op, name=node.name)

    operands = [ctx.laid_out(v, out.matrix.layout) for v in (a, b)]
    return _each_block(ctx, out, operands, emit)


def _tensor_with_row(
    ctx: Context, node: Node, full: Tensor, row: Tensor, op: str, reverse: bool
) -> Value:
    """full [rows, features] op row [features]."""
    shape, dtype = _result(node)
    layout = _layout(full) or ctx.preference(node)
    out = ctx.new(shape, dtype, layout)
    operand = ctx.laid_out(full, layout)
    if layout == FEATURES:
        return _with_columns(
            ctx, node, out, operand, ctx.laid_out(row, FEATURES), op, reverse
        )
    for start, end in spans(out.matrix.inner, CHUNK):
        repeated = ctx.repeated(row, min(out.matrix.outer, PARTITIONS), start, end)
        for block, (at, to) in enumerate(out.matrix.blocks):
            x = ctx.read(operand, block, start, end)
            y = repeated[0 : to - at]
            dst = ctx.place(out.matrix, block, start, end)
            x, y = (y, x) if reverse else (x, y)
            ctx.b.tensor_tensor(dst=dst, data1=x, data2=y, op=op, name=node.name)
            ctx.written(out.matrix, block, start, end, dst)
    return out


def _tensor_with_column(
    ctx: Context, node: Node, full: Tensor, column: Tensor, op: str, reverse: bool
) -> Value:
    """full [rows, features] op column [rows, 1]."""
    shape, dtype = _result(node)
    out = ctx.new(shape, dtype, ROWS)
    operands = ctx.laid_out(full, ROWS), ctx.laid_out(column, ROWS)
    return _with_columns(ctx, node, out, *operands, op, reverse)


def _with_columns(
    ctx: Context,
    node: Node,
    out: Value,
    full: Matrix,
    column: Matrix,
    op: str,
    reverse: bool,
) -> Value:
    for block in range(len(out.matrix.blocks)):
        per_partition = ctx.column(column, block)
        for start, end in spans(out.matrix.inner, CHUNK):
            dst = ctx.place(out.matrix, block, start, end)
            ctx.b.tensor_scalar(
                dst=dst,
                data=ctx.read(full, block, start, end),
                op0=op,
                operand0=per_partition,
                reverse0=reverse,
                name=node.name,
            )
            ctx.written(out.matrix, block, start, end, dst)
    return out


def _times(ctx: Context, x: Any, factor: float) -> Any:
    """factor * x in float32, for `alpha`."""
    if factor == 1:
        return x
    number = _number(x)
    if number is not None:
        return float(np.float32(factor) * np.float32(number))
    layout = _layout(x) or ROWS
    out = ctx.new(_shape_of(x), "float32", layout)

    def emit(dst: View, tile: View) -> None:
        ctx.b.tensor_scalar(
            dst=dst, data=tile, op0="multiply", operand0=factor, name=ctx.label
        )

    return _each_block(ctx, out, [ctx.laid_out(x, layout)], emit)


@lowering(aten.add.Tensor, aten.add.Scalar, layout="same", note="alpha; broadcasting")
def _add(ctx: Context, node: Node, a: Any, b: Any, alpha: float = 1) -> Value:
    return _binary(ctx, node, a, _times(ctx, b, alpha), "add")


@lowering(aten.sub.Tensor, aten.sub.Scalar, layout="same", note="alpha; broadcasting")
def _sub(ctx: Context, node: Node, a: Any, b: Any, alpha: float = 1) -> Value:
    return _binary(ctx, node, a, _times(ctx, b, alpha), "subtract")


@lowering(aten.mul.Tensor, aten.mul.Scalar, layout="same", note="broadcasting")
def _mul(ctx: Context, node: Node, a: Any, b: Any) -> Value:
    return _binary(ctx, node, a, b, "multiply")


def _reciprocal(divisor: Any) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return np.float32(1) / np.asarray(divisor, dtype=np.float32)


def _division_problem(node: Node) -> str | None:
    divisor = node.args[1]
    if isinstance(divisor, Node):
        if CONSTANT not in divisor.meta:
            return "divides by a computed tensor, and the device has no division"
        divisor = divisor.meta[CONSTANT].array
    if not np.isfinite(_reciprocal(divisor)).all():
        return "divides by a number whose reciprocal is not a finite float32"
    return None


@lowering(
    aten.div.Tensor,
    aten.div.Scalar,
    layout="same",
    check=_division_problem,
    note="by a number or a constant: times its reciprocal",
)
def _div(ctx: Context, node: Node, a: Tensor, b: Constant | float) -> Value:
    if isinstance(b, Constant):
        b = Constant(f"{b.name}.reciprocal", _reciprocal(b.array))
    else:
        b = float(_reciprocal(b))
    return _binary(ctx, node, a, b, "multiply")


# Products -------------------------------------------------------------------------

# What happens to a part of a product on its way from PSUM: (dst, psum, block of
# the partitions, start, end).
Epilogue = Callable[[View, View, int, int, int], None]


def _product(
    ctx: Context, node: Node, a: Tensor, b: Tensor, out: Value, epilogue: Epilogue
) -> None:
    """out = epilogue(a @ b), tile by tile.

    The contraction lies on the partitions of both operands. Whichever of them
    has the axis that `out` has on its partitions is the stationary one.
    """
    left = ctx.resident(ctx.laid_out(a, FEATURES))
    right = ctx.resident(ctx.laid_out(b, ROWS))
    still, moving = (left, right) if out.matrix.layout == ROWS else (right, left)
    # A stationary operand that passes through is read for several products at
    # a time, so that the moving one is not read as often.
    group = PARTITIONS if still.tiles is not None else MOVING
    for start, end in spans(moving.inner, MOVING):
        for low, high in spans(still.inner, group):
            parts = spans(high - low, PARTITIONS)
            sums = [ctx.b.psum((t - f, end - start), "float32") for f, t in parts]
            for k in range(len(still.blocks)):
                weights = ctx.read(still, k, low, high)
                data = ctx.read(moving, k, start, end)
                for total, (f, t) in zip(sums, parts):
                    ctx.b.nc_matmul(
                        dst=total,
                        stationary=weights[:, f:t],
                        moving=data,
                        accumulate=k > 0,
                        name=node.name,
                    )
            for total, (f, _) in zip(sums, parts):
                block = (low + f) // PARTITIONS
                dst = ctx.place(out.matrix, block, start, end)
                epilogue(dst, total, block, start, end)
                ctx.written(out.matrix, block, start, end, dst)


def fused_function(node: Node) -> tuple[str | None, Node]:
    """The function that a product applies on its way out, and the graph node
    whose value that is. Only where it changes no bits: the one user is a
    function, and the product's own rounding to its dtype commutes with it."""
    users = list(node.users)
    if len(users) != 1 or users[0].args[0] is not node:
        return None, node
    user = users[0]
    if user.target == aten.gelu.default:
        function = _GELU[user.kwargs.get("approximate", "none")]
    elif user.target in _FUNCTIONS:
        function = _FUNCTIONS[user.target]
    else:
        return None, node
    if function != "relu" and node.meta["val"].dtype != torch.float32:
        return None, node
    return function, user


def _to_features(
    ctx: Context, node: Node, bias: Matrix | None, function: str, scale: float
) -> Epilogue:
    """One activation instruction: function(scale * sum + bias)."""

    def epilogue(dst: View, total: View, block: int, start: int, end: int) -> None:
        ctx.b.activation(
            dst=dst,
            op=function,
            data=total,
            bias=None if bias is None else ctx.read(bias, block, 0, 1),
            scale=scale,
            name=node.name,
        )

    return epilogue


def _to_rows(
    ctx: Context, node: Node, bias: Tensor | None, function: str, scale: float
) -> Epilogue:
    """The bias is along the free axis, so the vector engine adds it."""
    rows: dict[int, View] = {}

    def epilogue(dst: View, total: View, block: int, start: int, end: int) -> None:
        if bias is None:
            ctx.b.activation(
                dst=dst, op=function, data=total, scale=scale, name=node.name
            )
            return
        count = total.shape[0]
        if start not in rows or rows[start].shape[0] < count:
            rows.clear()
            rows[start] = ctx.repeated(bias, count, start, end)
        partitions = rows[start][0:count]
        added = dst if function == "copy" else ctx.b.sbuf(dst.shape, "float32")
        if scale == 1:
            ctx.b.tensor_tensor(
                dst=added, data1=total, data2=partitions, op="add", name=node.name
            )
        else:
            ctx.b.scalar_tensor_tensor(
                dst=added,
                data=total,
                op0="multiply",
                operand0=scale,
                op1="add",
                operand1=partitions,
                name=node.name,
            )
        if added is not dst:
            ctx.b.activation(dst=dst, op=function, data=added, name=node.name)

    return epilogue


def _matmul(
    ctx: Context, node: Node, bias: Tensor | None, a: Tensor, b: Tensor, alpha: float
) -> Value:
    """function(alpha * a @ b + bias), bias [features] or none."""
    function, last = fused_function(node)
    shape, dtype = _result(last)
    out = ctx.new(shape, dtype, ctx.preference(last))
    if out.matrix.layout == FEATURES:
        column = None if bias is None else ctx.laid_out(bias, FEATURES)
        epilogue = _to_features(ctx, node, column, function or "copy", alpha)
    else:
        epilogue = _to_rows(ctx, node, bias, function or "copy", alpha)
    _product(ctx, node, a, b, out, epilogue)
    if last is not node:
        ctx.done[last] = out
    return out


@lowering(aten.mm.default, layout=(FEATURES, ROWS), note="any sizes; float32 sums")
def _mm(ctx: Context, node: Node, a: Tensor, b: Tensor) -> Value:
    return _matmul(ctx, node, None, a, b, 1.0)


def _addmm_problem(node: Node) -> str | None:
    if node.kwargs.get("beta", 1) == 0:
        return "has beta=0"
    return None


@lowering(
    aten.addmm.default,
    layout=("same", FEATURES, ROWS),
    check=_addmm_problem,
    note="any sizes; float32 sums; relu, and in float32 any function, joined to it",
)
def _addmm(
    ctx: Context,
    node: Node,
    bias: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> Value:
    shape, dtype = _result(node)
    bias = _times(ctx, bias, beta)
    if math.prod(_shape_of(bias)) == shape[1] == _shape_of(bias)[-1]:
        return _matmul(ctx, node, bias, a, b, float(alpha))
    # A bias that differs from row to row.
    product = ctx.new(shape, "float32", ctx.preference(node))
    _product(
        ctx,
        node,
        a,
        b,
        product,
        _to_features(ctx, node, None, "copy", float(alpha)),
    )
    return _binary(ctx, node, product, bias, "add")


# Softmax --------------------------------------------------------------------------


def _along_last(
    ctx: Context,
    node: Node,
    x: Tensor,
    dim: int,
    reduce: Callable[[Context, Node, Value, Value], None],
) -> Value:
    """A reduction along axis `dim`, made the last one."""
    shape, dtype = _result(node)
    rank = max(len(shape), 1)
    dim %= rank
    order = [i for i in range(rank) if i != dim] + [dim]
    moved = _permuted(ctx, x, order)
    if isinstance(moved, Constant):
        moved = moved.value(ctx, ROWS)
    out = ctx.new(moved.shape, dtype, ROWS)
    reduce(ctx, node, moved, out)
    back = [order.index(i) for i in range(rank)]
    result = _permuted(ctx, out, back)
    return Value(shape, result.matrix)


class _Row:
    """The blocks of 128 rows of a softmax, read in parts as wide as needed."""

    def __init__(self, ctx: Context, node: Node, x: Matrix, block: int) -> None:
        self._ctx, self._node, self._x, self._block = ctx, node, x, block
        at, to = x.blocks[block]
        self.count = to - at
        self.parts = spans(x.inner, _SOFTMAX_CHUNK)

    def read(self, start: int, end: int) -> View:
        return self._ctx.read(self._x, self._block, start, end)

    def column(self) -> View:
        return self._ctx.b.sbuf((self.count, 1), "float32")

    def negated_maximum(self) -> View:
        """-max of every row."""
        b, name = self._ctx.b, self._node.name
        each = b.sbuf((self.count, len(self.parts)), "float32")
        for i, (start, end) in enumerate(self.parts):
            b.tensor_reduce(
                dst=each[:, i : i + 1],
                op="maximum",
                data=self.read(start, end),
                axis=1,
                negate=True,
                name=name,
            )
        if len(self.parts) == 1:
            return each
        low = self.column()
        b.tensor_reduce(dst=low, op="minimum", data=each, axis=1, name=name)
        return low

    def exponentials(self, bias: View, dst: Callable[[int, int], View]) -> View:
        """dst(start, end) = exp(x + bias); the sums of all of a row."""
        total = self.column()
        last = len(self.parts) - 1
        for i, (start, end) in enumerate(self.parts):
            self._ctx.b.activation(
                dst=dst(start, end),
                op="exp",
                data=self.read(start, end),
                bias=bias,
                reduce_op="add",
                reduce_cmd="reduce" if i else "reset_reduce",
                reduce_res=total if i == last else None,
                name=self._node.name,
            )
        return total


def _softmax_rows(ctx: Context, node: Node, x: Value, out: Value) -> None:
    source = ctx.resident(ctx.laid_out(x, ROWS))
    b = ctx.b
    for block in range(len(source.blocks)):
        row = _Row(ctx, node, source, block)
        raised: dict[int, View] = {}
        bias = row.negated_maximum()
        # Wide rows: what is kept of the first pass is the sums alone.
        wide = len(row.parts) > 4

        def keep(start: int, end: int) -> View:
            tile = b.sbuf((row.count, end - start), "float32")
            raised[start] = tile
            return tile

        scale = row.column()
        b.reciprocal(dst=scale, data=row.exponentials(bias, keep), name=node.name)
        for start, end in row.parts:
            if wide:
                again = keep(start, end)
                b.activation(
                    dst=again,
                    op="exp",
                    data=row.read(start, end),
                    bias=bias,
                    name=node.name,
                )
            dst = ctx.place(out.matrix, block, start, end)
            b.tensor_scalar(
                dst=dst,
                data=raised[start],
                op0="multiply",
                operand0=scale,
                name=node.name,
            )
            ctx.written(out.matrix, block, start, end, dst)


def _log_softmax_rows(ctx: Context, node: Node, x: Value, out: Value) -> None:
    source = ctx.resident(ctx.laid_out(x, ROWS))
    b = ctx.b
    for block in range(len(source.blocks)):
        row = _Row(ctx, node, source, block)
        bias = row.negated_maximum()

        def passing(start: int, end: int) -> View:
            return b.sbuf((row.count, end - start), "float32")

        logarithm = row.column()
        b.activation(
            dst=logarithm,
            op="log",
            data=row.exponentials(bias, passing),
            name=node.name,
        )
        for start, end in row.parts:
            dst = ctx.place(out.matrix, block, start, end)
            b.tensor_scalar(
                dst=dst,
                data=row.read(start, end),
                op0="add",
                operand0=bias,
                op1="subtract",
                operand1=logarithm,
                name=node.name,
            )
            ctx.written(out.matrix, block, start, end, dst)


def _softmax_problem(node: Node) -> str | None:
    return "has half_to_float=True" if node.args[2] else None


@lowering(aten._softmax.default, check=_softmax_problem, note="any dimension")
def _softmax(ctx: Context, node: Node, x: Tensor, dim: int, _: bool) -> Value:
    return _along_last(ctx, node, x, dim, _softmax_rows)


@lowering(aten._log_softmax.default, check=_softmax_problem, note="any dimension")
def _log_softmax(ctx: Context, node: Node, x: Tensor, dim: int, _: bool) -> Value:
    return _along_last(ctx, node, x, dim, _log_softmax_rows)


# Shapes ---------------------------------------------------------------------------


def _reshaped(ctx: Context, x: Tensor, shape: Sequence[int]) -> Value:
    """The same elements in another shape: free where rows and features stay,
    else through HBM."""
    if isinstance(x, Constant):
        x = x.value(ctx, ROWS)
    if x.same_matrix(shape):
        return Value(shape, x.matrix)
    if matrix_of(shape) == matrix_of(x.shape)[::-1] and 1 in matrix_of(shape):
        return Value(shape, x.matrix.flipped())
    return ctx.from_hbm(ctx.in_hbm(x), shape)


def _permuted(ctx: Context, x: Tensor, order: Sequence[int]) -> Value:
    """The axes in another order: free for a matrix, else a copy in HBM."""
    if isinstance(x, Constant):
        x = x.value(ctx, ROWS)
    shape = x.shape or (1,)
    result = [shape[i] for i in order]
    # Axes that stay together move as one; those of size 1 do not matter.
    groups: list[list[int]] = []
    for axis in (i for i in order if shape[i] != 1):
        between = shape[groups[-1][-1] + 1 : axis] if groups else ()
        if groups and groups[-1][-1] < axis and math.prod(between) == 1:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    sizes = [math.prod(shape[i] for i in g) for g in groups]
    rank = sorted(range(len(groups)), key=lambda i: groups[i])
    merged = [sizes[i] for i in rank]
    if len(groups) <= 1:
        return _reshaped(ctx, x, result)
    if len(groups) == 2:
        matrix = _reshaped(ctx, x, merged)
        turned = Value(merged[::-1], matrix.matrix.flipped())
        return _reshaped(ctx, turned, result)
    view = ctx.in_hbm(x).reshape(merged)
    view = view.permute([rank.index(i) for i in range(len(groups))])
    return ctx.gathered(view, result)


@lowering(
    aten.view.default,
    aten._unsafe_view.default,
    aten.reshape.default,
    layout="reshaped",
    note="free while the last axis stays, else through HBM",
)
def _view(ctx: Context, node: Node, x: Tensor, _: Sequence[int]) -> Value:
    return _reshaped(ctx, x, _result(node)[0])


@lowering(
    aten.unsqueeze.default,
    aten.squeeze.dims,
    aten.squeeze.dim,
    aten.squeeze.default,
    layout="reshaped",
    note="as view",
)
def _squeeze(ctx: Context, node: Node, x: Tensor, *_: Any) -> Value:
    return _reshaped(ctx, x, _result(node)[0])


@lowering(
    aten.permute.default,
    layout="permuted",
    note="free for a matrix, else through HBM",
)
def _permute(ctx: Context, node: Node, x: Tensor, order: Sequence[int]) -> Value:
    rank = len(_shape_of(x))
    return _permuted(ctx, x, [i % rank for i in order])


@lowering(aten.t.default, layout="permuted", note="free")
def _t(ctx: Context, node: Node, x: Tensor) -> Value:
    return _permuted(ctx, x, list(range(len(_shape_of(x))))[::-1])


@lowering(aten.transpose.int, layout="permuted", note="as permute")
def _transpose(ctx: Context, node: Node, x: Tensor, a: int, b: int) -> Value:
    order = list(range(len(_shape_of(x))))
    order[a], order[b] = order[b], order[a]
    return _permuted(ctx, x, order)


@lowering(aten.expand.default, note="through HBM")
def _expand(ctx: Context, node: Node, x: Tensor, *_: Any, **__: Any) -> Value:
    shape = _result(node)[0]
    result = _broadcast(ctx, x, shape)
    return _reshaped(ctx, result, shape)


# Layouts --------------------------------------------------------------------------


def preferred_layouts(graph: torch.fx.Graph) -> dict[Node, str]:
    """The layout in which the first user that cares wants each node's value."""
    known: dict[Node, str] = {}
    for node in reversed(graph.nodes):
        wishes = (_wanted_by(user, node, known) for user in node.users)
        known[node] = next(filter(None, wishes), ROWS)
    return known


def _wanted_by(user: Node, node: Node, known: dict[Node, str]) -> str | None:
    row = find(user.target) if user.op == "call_function" else None
    if row is None:
        return ROWS  # the program's output
    position = user.args.index(node) if node in user.args else 0
    wanted = row.layout_of(position)
    if wanted in (ROWS, FEATURES):
        return wanted
    before, after = (n.meta["val"].shape for n in (node, user))
    if wanted == "same":
        return known[user] if before == after else None
    same = matrix_of(before) == matrix_of(after)
    if wanted == "reshaped":
        return known[user] if same else ROWS
    if len(before) == 2:  # permuted
        return FEATURES if known[user] == ROWS else ROWS
    return ROWS


def unsupported_dtype(node: Node) -> str | None:
    """A dtype among a node's tensors that no lowering computes in."""

    def visit(value: Any) -> str | None:
        if isinstance(value, Node):
            value = value.meta.get("val")
        if isinstance(value, torch.Tensor):
            bad = value.dtype not in FLOAT_DTYPES
            return dtype_name(value.dtype) if bad else None
        if isinstance(value, (list, tuple)):
            return next(filter(None, map(visit, value)), None)
        return None

    return visit([node.args, list(node.kwargs.values()), node.meta.get("val")])
