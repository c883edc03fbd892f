"""Wrappers that reduce free axes, and those built of reductions.

`axis` names the last axes of the tile, never the partitions; negative numbers
count from the end. What is computed in between is float32, and the result is
cast once, to x's dtype unless `dtype` is given. On chip a tile has two axes at
least: what reduces every free axis is (P, 1), keepdims or not.

Sources: nki/api/nki/language/__init__.py:1814-1990.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trnemu.nki import _trace
from trnemu.nki._tensor import NkiTensor
from trnemu.nki.language._elementwise import binary
from trnemu.nki.language._functions import rsqrt_into
from trnemu.nki.language._operands import (
    activated,
    copied,
    free_size,
    new,
    scalar_op,
    tensor_op,
    tile,
)
from trnemu.nki.language._tokens import Op, float32, op

_BN_STATS_LIMIT = 512  # elements of one bn_stats; its documentation


class _Named(Op):
    """nl.max, nl.min: the operators maximum and minimum as an argument, and
    wrappers of their own when called."""

    def __new__(cls, operator: str, wrapper: Callable[..., Any]) -> _Named:
        token = str.__new__(cls, operator)
        token.__dict__.update(Op(wrapper.__name__, wrapper).__dict__)
        return token

    def __repr__(self) -> str:
        return f"nl.{self.__name__}"

    def __reduce__(self) -> Any:
        return _named, (self.__name__,)


def _named(name: str) -> Any:
    """nl.max or nl.min, for pickle."""
    return globals()[name]


def _trailing(x: NkiTensor, axis: Any) -> list[int] | None:
    """The axes in order, if they are the last ones and free."""
    given = axis if isinstance(axis, (list, tuple)) else [axis]
    for a in given:
        if isinstance(a, bool) or not hasattr(a, "__index__"):
            raise TypeError(
                f"axis must be an int or a list of ints, not {axis!r}"
            )
    axes = sorted(a + x.ndim if a < 0 else a for a in given)
    last = list(range(x.ndim - len(axes), x.ndim))
    return axes if axes and axes == last and axes[0] > 0 else None


def reduced(
    operator: str,
    x: NkiTensor,
    axis: Any,
    dtype: Any,
    keepdims: bool,
    name: str = "",
) -> NkiTensor:
    """tensor_reduce into a new tile."""
    axes = _trailing(x, axis)
    if axes is None:
        dst = x  # the instruction refuses the axis
    else:
        shape = tuple(x.shape[: axes[0]])
        dst = new(shape + (1,) * len(axes) * keepdims, dtype, name)
    _trace.current().add(
        "tensor_reduce",
        dst=dst,
        op=operator,
        data=x,
        axis=axis if axes is None else axes,
        keepdims=keepdims,
    )
    return dst


def _reduction(name: str, operator: str, what: str) -> Callable[..., Any]:
    def wrapper(
        x: Any, axis: Any, dtype: Any = None, keepdims: bool = False
    ) -> NkiTensor:
        data = tile(name, "x", x)
        return reduced(operator, data, axis, dtype or data.dtype, keepdims)

    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__ = f"""{what} of x along `axis`: tensor_reduce.

    axis: an int or a list, the last axes. keepdims: keep them, of size 1.
    Fault (illegal, tensor_reduce.axis): other axes.
    """
    return wrapper


sum = op(_reduction("sum", "add", "The sum, in float32,"))
prod = op(_reduction("prod", "multiply", "The product, in float32,"))
max = _Named("maximum", _reduction("max", "maximum", "The largest element"))
min = _Named("minimum", _reduction("min", "minimum", "The smallest element"))


@op
def mean(
    x: Any, axis: Any, dtype: Any = None, keepdims: bool = False
) -> NkiTensor:
    """The mean of x along `axis`: the float32 sum, times 1 / count.

    Arguments as of nl.sum.
    """
    data = tile("mean", "x", x)
    total = reduced("add", data, axis, float32, keepdims, "mean.sum")
    count = free_size(data) // free_size(total)
    return scalar_op(
        total, "multiply", 1 / count, dtype=dtype or data.dtype
    )


@op
def all(x: Any, axis: Any, dtype: Any = None) -> NkiTensor:
    """1 where every element of x along `axis` is nonzero, else 0.

    axis: an int or a list, the last axes, which the result does not have.
    """
    data = tile("all", "x", x)
    # Of one element a reduction is the element, not whether it is nonzero.
    truth = scalar_op(
        data, "not_equal", 0.0, dtype=float32, name="all.truth"
    )
    return reduced("minimum", truth, axis, dtype or data.dtype, False)


def _pieces(x: NkiTensor, first: int) -> Iterator[NkiTensor]:
    """x in parts of at most 512 elements of a partition, none of which is one
    element alone unless x is; cut along the axes from `first` on."""
    if free_size(x) <= _BN_STATS_LIMIT:
        yield x
        return
    axis = next(a for a in range(first, x.ndim) if x.shape[a] > 1)
    half = (x.shape[axis] + 1) // 2
    for start, end in ((0, half), (half, x.shape[axis])):
        yield from _pieces(x.slice(axis, start, end), first)


def _rows(x: NkiTensor, axes: int) -> Iterator[tuple[list[Any], NkiTensor]]:
    """Each part of x with one index along axes 1 to `axes`, and its indices."""
    indices: list[list[int]] = [[]]
    for size in x.shape[1 : axes + 1]:
        indices = [i + [k] for i in indices for k in range(size)]
    for index in indices:
        where = [slice(None), *(slice(k, k + 1) for k in index)]
        yield where, x[tuple(where)]


@op
def var(
    x: Any, axis: Any, dtype: Any = None, keepdims: bool = False
) -> NkiTensor:
    """The variance of x along `axis`, over the count: bn_stats and bn_aggr.

    keepdims is taken and ignored, as documented: the result keeps the axes.
    bn_stats takes 512 elements of a partition, so that longer rows are several,
    and works on whole partitions: free axes before `axis` are a loop.
    """
    data = tile("var", "x", x)
    axes = _trailing(data, axis)
    if axes is None:
        return reduced("add", data, axis, float32, True)
    kept = axes[0] - 1
    shape = tuple(data.shape[: axes[0]]) + (1,) * len(axes)
    dst = new(shape, dtype or data.dtype)
    if free_size(data) == free_size(dst):
        # The variance of one element is 0 (bn_stats has no second half).
        return tensor_op(data, data, "subtract", dst=dst)
    trace = _trace.current()
    for where, row in _rows(data, kept):
        pieces = list(_pieces(row, kept + 1))
        stats = new((data.shape[0], 6 * len(pieces)), float32, "var.stats")
        for i, piece in enumerate(pieces):
            part = stats[:, 6 * i : 6 * i + 6]
            trace.add("bn_stats", dst=part, data=piece)
        both = new((data.shape[0], 2), float32, "var.mean_and_variance")
        trace.add("bn_aggr", dst=both, data=stats)
        copied(both[:, 1:2], None, dst=dst[tuple(where)])
    return dst


def softmax(x: Any, axis: Any = -1, dtype: Any = None) -> NkiTensor:
    """exp(x - max) / sum of them, along `axis`: the last axes.

    Maximum, difference, exp, sum, reciprocal and product, each an instruction
    with a float32 result. A row that is -inf throughout gives NaN.
    """
    data = tile("softmax", "x", x)
    largest = reduced("maximum", data, axis, float32, True, "softmax.max")
    below = binary("subtract", data, largest, float32)
    powers = activated(below, "exp", float32, "softmax.exp")
    total = reduced("add", powers, axis, float32, True, "softmax.sum")
    inverse = new(total.shape, float32, "softmax.inverse")
    _trace.current().add("reciprocal", dst=inverse, data=total)
    return binary("multiply", powers, inverse, dtype or data.dtype)


def rms_norm(
    x: Any,
    w: Any,
    axis: Any,
    n: float,
    epsilon: float = 1e-06,
    dtype: Any = None,
    compute_dtype: Any = None,
) -> NkiTensor:
    """x / sqrt(sum of x * x / n + epsilon) * w, the sum along `axis`.

    w: a tile of x's shape, or of size 1 along free axes; nl.broadcast_to
    repeats a (1, F) one over the partitions. n: what the sum is divided by,
    positive. compute_dtype: of the results in between, float32 unless given.
    The reciprocal root is nl.rsqrt's.
    """
    data = tile("rms_norm", "x", x)
    weight = tile("rms_norm", "w", w)
    if isinstance(n, NkiTensor) or not n > 0:
        raise ValueError(f"nl.rms_norm: n must be a positive number, not {n!r}")
    kind = compute_dtype or float32
    squares = activated(data, "square", kind, "rms_norm.squares")
    total = reduced("add", squares, axis, kind, True, "rms_norm.sum")
    moment = scalar_op(
        total, "multiply", 1 / n, "add", epsilon, dtype=kind, name="rms_norm.ms"
    )
    root = rsqrt_into(new(moment.shape, kind, "rms_norm.rsqrt"), moment)
    scaled = binary("multiply", data, root, kind)
    return binary("multiply", scaled, weight, dtype or data.dtype)


__all__ = [
    "all",
    "max",
    "mean",
    "min",
    "prod",
    "rms_norm",
    "softmax",
    "sum",
    "var",
]
