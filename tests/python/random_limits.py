"""Values that an operation may be given, where the documents leave others open.

The same limits that the generators of oracle/cases_*.py keep to
(oracle/DECISIONS.md, "not produced").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oracle.types import Array, T
from reference import INTS, widen

# Operands written only in part, or added to: their old value counts.
KEEPS = {
    "tensor_copy_predicated": ("dst",), "nc_stream_shuffle": ("dst",),
    "nonzero_with_count": ("dst",),
}
# Whose accumulators the operation uses.
ACCUMULATORS = {
    "tensor_scalar_reduce": "vector", "tensor_scalar_cumulative": "vector",
    "exponential": "vector", "range_select": "vector",
    "select_reduce": "vector", "activation": "scalar",
    "activation_reduce": "scalar", "activate2": "scalar",
}
RANDOM = ("rng", "rand2", "dropout", "rand_get_state", "rand_set_state",
          "set_rng_seed")


def kept(op: Any) -> tuple[str, ...]:
    """Operands of which some elements keep their value."""
    if op.attributes.get("oob_mode") == "skip":
        return ("dst",)
    return KEEPS.get(op.name, ())


def plain(x: Array) -> bool:
    """No NaN and no -0."""
    if x.dtype.kind in "iub":
        return True
    return not (np.isnan(x) | (x == 0) & np.signbit(x.astype(np.float32))).any()


def everyday(t: T, reach: float = 2.0**30) -> bool:
    """Zeros, and sizes far from overflow and underflow."""
    with np.errstate(invalid="ignore"):
        x = np.abs(widen(t.values, t.dtype).astype(np.float64))
    return bool(((x == 0) | (x >= 1 / reach) & (x <= reach)).all())


def finite(t: T) -> bool:
    return bool(np.isfinite(widen(t.values, t.dtype)).all())


def _amounts(t: Any, like: T) -> bool:
    if not isinstance(t, T):
        return True
    x = t.values.astype(np.int64)
    return bool(((x >= 0) & (x < 8 * like.values.dtype.itemsize + 8)).all())


def _tensor_tensor(op: Any, t: Any, machine: Any) -> bool:
    if "shift" in op.attributes["op"]:
        return _amounts(t["data2"], t["data1"])
    return True


def _tensor_scalar(op: Any, t: Any, machine: Any) -> bool:
    return all(
        _amounts(t.get(f"operand{i}"), t["data"]) for i in (0, 1)
        if "shift" in str(op.attributes.get(f"op{i}"))
    )


def _reciprocal(op: Any, t: Any, machine: Any) -> bool:
    x = widen(t["data"].values, t["data"].dtype)
    return not (np.abs(x) < np.float32(2.0**-126)).any()


def _matmul(op: Any, t: Any, machine: Any) -> bool:
    dst, add = t["dst"], op.attributes.get("accumulate")
    marks = dst.by_matmul
    reads = bool(add) or add is None and bool(marks.any())
    if add and machine.gen < 4 and not marks.all():
        return False
    if reads:  # what it adds to must be known
        machine.read(op.operands["dst"], True, False)
    if op.name == "nc_matmul_mx" or op.attributes.get("is_transpose"):
        return True
    if op.attributes.get("is_stationary_onezero"):
        if not np.isin(t["stationary"].values, (0, 1)).all():
            return False
    return all(
        t[name].dtype.startswith("float8") or everyday(t[name], 2.0**24)
        for name in ("stationary", "moving")
    )


def _transpose(op: Any, t: Any, machine: Any) -> bool:
    return machine.gen > 2 or everyday(t["data"])


def _partition_reduce(op: Any, t: Any, machine: Any) -> bool:
    data = t["data"]
    if op.attributes["op"].startswith("bitwise"):
        return True
    if data.dtype in INTS and np.abs(data.values.astype(float)).max() > 1000:
        return False
    return op.attributes["op"] != "maximum" or plain(data.values)


def _local_gather(op: Any, t: Any, machine: Any) -> bool:
    wide = op.attributes.get("num_elem_per_idx", 1)
    return bool(t["index"].values.max() + wide <= t["src_buffer"].flat.shape[1])


def _n_gather(op: Any, t: Any, machine: Any) -> bool:
    return bool(t["indices"].values.max() < t["data"].flat.shape[1])


def _eight(op: Any, t: Any, machine: Any) -> bool:
    """data and vals belong together: see Bind.together."""
    return plain(t["data"].values) and plain(t["vals"].values)


LIMITS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "tensor_tensor": _tensor_tensor,
    "tensor_scalar": _tensor_scalar,
    "reciprocal": _reciprocal,
    "nc_matmul": _matmul,
    "nc_matmul_mx": _matmul,
    "nc_transpose": _transpose,
    "tensor_partition_reduce": _partition_reduce,
    "local_gather": _local_gather,
    "nc_n_gather": _n_gather,
    "nc_find_index8": _eight,
    "nc_match_replace8": _eight,
    "max8": lambda op, t, m: plain(t["src"].values),
    "nonzero_with_count": lambda op, t, m: plain(t["src"].values),
    "bn_stats": lambda op, t, m: everyday(t["data"]),
    "quantize_mx": lambda op, t, m: finite(t["src"]),
    "select_reduce": lambda op, t, m: bool(
        (t["predicate"].values.astype(np.int64) >= 0).all()),
}
# Inputs whose values belong together, or are legal by construction only: they
# are loaded for the operation and never taken from what memory holds.
LOADED = {
    "nc_find_index8": ("data", "vals"), "nc_match_replace8": ("data", "vals"),
    "sequence_bounds": ("segment_ids",), "bn_aggr": ("data",),
    "range_select": ("bound0", "bound1"),
    "nc_matmul_mx": ("stationary", "moving", "stationary_scale",
                     "moving_scale"),
    "rand2": ("min", "max"), "dropout": ("prob",),
    "rand_set_state": ("src_seeds",), "set_rng_seed": ("src_seeds",),
    "local_gather": ("index",), "nc_n_gather": ("indices",),
}


def lanes(op: Any, t: Any) -> tuple[str, slice]:
    """Engine and partitions whose generators the operation uses."""
    one = t.get("dst", t.get("src_seeds"))
    default = "gpsimd" if "state" in op.name else "vector"
    engine = op.attributes.get("engine", default)
    return engine, slice(one.start, one.start + len(one.values))


def _seeded(op: Any, t: Any, machine: Any) -> str | None:
    """What draws or reads a state comes after a seed of the same lanes."""
    engine, own = lanes(op, t)
    known = machine.seeded[engine]
    if op.name in ("rng", "rand2", "dropout", "rand_get_state"):
        return None if known[own].all() else "lanes without a seed"
    return None


def seeds(op: Any, t: Any, machine: Any) -> None:
    """Notes what an operation has seeded."""
    if op.name == "set_rng_seed":
        machine.seeded["vector"][:] = True
    elif op.name == "rand_set_state":
        engine, own = lanes(op, t)
        machine.seeded[engine][own] = True


def limits(op: Any, t: Any, machine: Any) -> str | None:
    """Why the operation may not be given these values, or None."""
    check = LIMITS.get(op.name)
    if check and not check(op, t, machine):
        return f"{op.name}: values outside its limits"
    if op.name in ACCUMULATORS:
        return _continues(op, t, machine)
    return _seeded(op, t, machine) if op.name in RANDOM else None


def _continues(op: Any, t: Any, machine: Any) -> str | None:
    """An accumulation goes on from its own family, in lanes that have begun."""
    default = "idle" if op.name in (
        "activation", "activate2", "exponential", "select_reduce"
    ) else "reset_reduce"
    command = op.attributes.get("reduce_cmd", default)
    reads = command == "reduce" or (
        command == "idle" and "reduce_res" in op.operands)
    which = ACCUMULATORS[op.name]
    if reads and machine.owner[which] != op.name:
        return "accumulators of another family"
    known = getattr(machine.state, which).known[: len(t["dst"].values)]
    if command == "reduce" and not known.all():
        return "accumulators that nothing has reset"
    return None
