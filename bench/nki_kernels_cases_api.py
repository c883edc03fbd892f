"""Examples in the docstrings of nki.isa and nki.language."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nki_kernels_case import (
    F32,
    GEN3,
    Body,
    Case,
    Page,
    Tolerance,
    Work,
    refused,
)
from nki_kernels_cases_examples import normal
from nki_kernels_cases_fragments import out
from nki_kernels_cases_loops import (
    NO_GATHER,
    column,
    gather_arguments,
    gathered,
    halves,
    integers,
    number,
)

ISA = "nki/api/nki/isa/__init__.py"
NL = "nki/api/nki/language/__init__.py"
GEN4_ONLY = "NeuronCore-v4 (trn3) and newer, says its docstring"
GEN3_ONLY = "NeuronCore-v3 (trn2) and newer, says its docstring"

NOT_GEN2 = refused("nonzero_with_count.generation", GEN3_ONLY, "trn1")
NO_ABS_MAX = refused(
    "tensor_scalar.op0_generation", GEN4_ONLY, "trn1", "trn2")
NO_ACTIVATE2 = refused("activate2.generation", GEN4_ONLY, "trn1", "trn2")


def isa(key: str, parameters: str = "", before: str = "",
        after: str = "") -> Body:
    return Body("sdk", ISA, key, parameters, before, after)


def nl(key: str, parameters: str = "", before: str = "",
       after: str = "") -> Body:
    return Body("sdk", NL, key, parameters, before, after)


def asserts(key: str, name: str, **more: Any) -> Case:
    """An example that checks itself."""
    return Case(f"nl.{name}", nl(key), **more)


def views(key: str, name: str, after: str = "", before: str = "") -> Case:
    """Views of tensors, and assertions of ours."""
    return Case(f"NkiTensor.{name}", nl(key, "", before, after))


SELF_CHECKED = {
    "caae72e0": "add", "4f7fb249": "subtract", "9b1fc7fb": "multiply",
    "e69fdb78": "maximum", "6ce6efb0": "minimum", "c96ee3d7": "abs",
    "4468514a": "square", "de592c87": "power", "b59c9b79": "exp",
    "c3710a37": "log", "c21b0871": "sqrt", "946a3e34": "rsqrt",
    "855729e0": "reciprocal", "3c619ac1": "sin", "32562740": "cos",
    "611d2081": "tan", "33fdd4c8": "arctan", "4cd81862": "ceil",
    "5fe07072": "floor", "a818c643": "trunc", "d85a7aee": "negative",
    "56aba907": "sign", "6f88a35e": "where",
    "f86d6250": "transpose", "80961049": "matmul", "c6b7b23f": "no_reorder",
}
GEN4_CHECKED = {
    "4ad981e1": "abs_max", "eedc31e5": "abs_max, a tie",
    "4f23667e": "abs_min", "1cb35555": "abs_min, a tie",
}
RNG = ("rng.generator",)
GENERATOR = "documents leave open which numbers the generator gives"
SQUARES = """\
out_tensor = nl.ndarray(
    input_tensor.shape, dtype=input_tensor.dtype, buffer=nl.shared_hbm)
"""


def squares(key: str, name: str) -> Case:
    return Case(f"nl.{name}",
                nl(key, "input_tensor", SQUARES, "return out_tensor"),
                normal((128, 1024)), lambda work, x: x * x)


def first_square(work: Work, x: Any) -> Any:
    return x * x


LANGUAGE = [
    *[asserts(key, name) for key, name in SELF_CHECKED.items()],
    asserts("1fc457fe", "random_seed", allowed=RNG, note=GENERATOR),
    *[asserts(key, name, refused=NO_ABS_MAX)
      for key, name in GEN4_CHECKED.items()],
    Case("nl.copy of nl.matmul", nl(
        "2458ab73", "x_tensor, y_tensor", "", out("result", 64, 128)),
        integers((128, 64), (128, 128)), lambda work, x, y: x.T @ y),
    Case("nl.softmax", nl("b94012f5", "", "", out("result", 128, 512)),
         reference=lambda work: np.full((128, 512), 1 / 512, np.float32),
         tolerance=F32),
    Case("nl.rms_norm", nl("fb2db517", "", "", out("result", 128, 512)),
         reference=lambda work: np.full(
             (128, 512), 2 / np.sqrt(4 + 1e-6), np.float32), tolerance=F32),
    Case("nl.gather_flattened", nl(
        "fb022859", "data_tensor, indices_tensor", """\
actual_tensor = nl.ndarray(
    (128, 512), dtype=data_tensor.dtype, buffer=nl.shared_hbm)
""", "return actual_tensor"),
        lambda work: (*normal((128, 512))(work), work.rng.integers(
            0, 512, (128, 512)).astype(np.uint32)),
        lambda work, data, indices: np.take_along_axis(
            data, indices.astype(np.int64), 1)),
    squares("2b2935f8", "affine_range"),
    squares("4e65edc7", "sequential_range"),
    squares("9b4b0c28", "static_range"),
    Case("nl.dynamic_range", nl("5e2deedd", "input_tensor", SQUARES,
                                "return out_tensor"),
         normal((128, 512)), first_square),
    Case("nl.fori_loop", nl("a98d4bb9", "data, ub_input", """\
N = 16
output = nl.ndarray((1, N), dtype=nl.float32, buffer=nl.shared_hbm)
""", "return output"), column, lambda work, data, count: np.where(
        np.arange(16) < 9, data, np.float32(0))),
    Case("nl.while_loop", nl("08b846cb", "count_input", """\
data = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.private_hbm)
nisa.dma_copy(dst=data, src=nl.full((1, 1), 0.5, dtype=nl.float32))
""", out("acc", 1, 1)), number(5), halves),
    Case("nl.shared_identity_matrix", nl("60449a3d", "expected_tensor", """\
actual_tensor = nl.ndarray(
    (128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
""", "return actual_tensor"), lambda work: (np.eye(128, dtype=np.float32),),
         lambda work, x: x),
    Case("nl.rand", nl("06aed462", "", "", out("a", 128, 512)),
         reference=lambda work: np.full((128, 512), 0.5, np.float32),
         tolerance=Tolerance(0.0, 0.5, "ours: within [0, 1]"), allowed=RNG,
         note=GENERATOR),
]

WHICH_DTYPE = (
    "an open question: no document says in elements of which dtype a dynamic "
    "offset counts when ap changes the dtype (unsupported, not illegal)"
)
TENSORS = [
    views("340b6343", "two tensors"),
    views("bcfd6e85", "__getitem__", """\
assert a.shape == (128, 32) and b.shape == (128, 16)
assert c.shape == (128, 1) and d.shape == (8, 64)
""", "i = 32"),
    views("ca2e6f1b", "permute",
          "assert t.permute((0, 2, 1)).shape == (128, 8, 4)"),
    views("dc9fe808", "broadcast",
          "assert t.broadcast(1, 8).shape == (128, 8, 64)"),
    views("1565f4b5", "expand_dim",
          "assert t.expand_dim(1).shape == (128, 1, 64)"),
    views("c6b36a92", "squeeze_dim",
          "assert t.squeeze_dim(1).shape == (128, 64)"),
    views("ecc174d3", "reshape_dim", """\
assert t.reshape_dim(1, (4, 6)).shape == (128, 4, 6)
assert t.reshape_dim(1, (4, -1)).shape == (128, 4, 6)
"""),
    views("f3bfbed1", "flatten_dims",
          "assert t.flatten_dims(1, 2).shape == (128, 6, 4)"),
    views("f74cf0be", "reshape", """\
assert t.reshape((128, 2, 12)).shape == (128, 2, 12)
"""),
    views("324462ac", "rearrange", """\
u = t.rearrange(("b", ("h", "w")), ("b", "w", "h"), {"h": 4})
assert u.shape == (128, 6, 4)
"""),
    views("beac37e3", "slice", """\
assert t.slice(1, 8, 24, 1).shape == (128, 16)
assert t.slice(1, 0, 64, 2).shape == (128, 32)
"""),
    views("da0eb4cd", "select", """\
assert t.select(1, 3).shape == (128, 64)
assert hbm_t.select(0, idx).shape == (128, 8)
"""),
    views("0c08e0d7", "vector_select", """\
assert hbm_t.vector_select(0, offsets).shape == (128, 128, 8)
"""),
    Case("NkiTensor.ap", nl("f4d3000f", "", """\
idx = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
"""), refused=refused("access.indirect_dtype", WHICH_DTYPE)),
    views("bc26a699", "view", """\
assert t.view(nl.uint8).shape == (128, 256)
assert t.view(nl.int32).shape == (128, 64)
assert u.view(nl.float32).shape == (128, 64)
"""),
]


def rows(work: Work) -> tuple[Any, ...]:
    """A tensor of 256 rows, and 64 of them by number, in any order."""
    (x,) = normal((256, 32))(work)
    return x, work.rng.permutation(256)[:64].reshape(64, 1).astype(np.uint32)


def scattered(work: Work) -> tuple[Any, ...]:
    (x,) = normal((64, 32))(work)
    indices = work.rng.permutation(64).reshape(64, 1).astype(np.uint32)
    return x, indices, np.zeros((64, 32), np.float32)


def scatter(work: Work, x: Any, indices: Any, _: Any) -> Any:
    result = np.zeros_like(x)
    result[indices[:, 0]] = x
    return result


def gather_4d(work: Work) -> tuple[Any, ...]:
    (x,) = normal((512, 1, 4, 64), dtype=ml_dtypes.bfloat16)(work)
    indices = work.rng.permutation(512)[:256]
    return x, indices.reshape(128, 2).astype(np.uint32)


def gathered_4d(work: Work, x: Any, indices: Any) -> Any:
    return x[indices.T.ravel()].transpose(3, 1, 2, 0)


def gelu(work: Work, x: Any) -> Any:
    """The exact form, x * Phi(x), of 2 x + 0.5."""
    import math

    y = 2.0 * x.astype(np.float64) + 0.5
    phi = np.vectorize(math.erf)(y / math.sqrt(2.0))
    return 0.5 * y * (1.0 + phi)


def found(work: Work, x: Any) -> Any:
    """Indices of what is not zero, then -1, then how many there are."""
    result = np.full((x.shape[0], x.shape[1] + 1), -1, np.int32)
    for row, values in zip(result, x, strict=True):
        indices = np.flatnonzero(values)
        row[:len(indices)] = indices
        row[-1] = len(indices)
    return result


def sparse(*shape: int) -> Any:
    return lambda work: (
        (work.rng.random(shape) < 0.3).astype(np.float32),
    )


TOPK = """\
def topk_kernel_of(x):
    val, idx = topk_kernel(x)
    vals = nl.ndarray(val.shape, dtype=val.dtype, buffer=nl.shared_hbm)
    idxs = nl.ndarray(idx.shape, dtype=idx.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=vals, src=val)
    nisa.dma_copy(dst=idxs, src=idx)
    return vals, idxs
return topk_kernel_of(x)
"""


def snake(work: Work) -> tuple[Any, ...]:
    """Two groups of 16 partitions of three columns; 42 numbers in each, all
    different, so that their order is one."""
    numbers = np.stack([work.rng.permutation(48) for _ in range(2)])
    columns = numbers.reshape(2, 3, 16).transpose(0, 2, 1)
    return (columns.reshape(32, 3).astype(ml_dtypes.bfloat16),)


def largest_eight(work: Work, x: Any) -> Any:
    """The eight largest of the group's first 42, ascending, in each of its
    partitions."""
    values, indices = [], []
    for group in x.astype(np.float32).reshape(2, 16, 3):
        flat = group.T.ravel()[:42]
        order = np.argsort(flat, kind="stable")[-8:]
        values += [flat[order]] * 16
        indices += [order] * 16
    return (np.array(values).astype(ml_dtypes.bfloat16),
            np.array(indices, np.uint32))


SIZES = "batch_size, hidden_dim = 8, 16\n"
UNWRITTEN_READ = ("memory.read_unwritten",)
UNWRITTEN = "sends a tile that the example never fills"
INSTRUCTIONS = [
    Case("nisa.VirtualRegister", isa("39115bef", "input_tensor", SQUARES,
                                     "return out_tensor"),
         normal((128, 512)), first_square),
    Case("indirect_gather_kernel", Page("sdk", ISA, "indirect_gather_kernel"),
         rows, lambda work, x, indices: x[indices[:, 0]]),
    Case("indirect_scatter_kernel",
         Page("sdk", ISA, "indirect_scatter_kernel"), scattered, scatter),
    Case("nc_matmul_accumulate_kernel",
         Page("sdk", ISA, "nc_matmul_accumulate_kernel"),
         integers((512, 128), (512, 512)), lambda work, a, b: a.T @ b),
    Case("gather_transpose_kernel",
         Page("sdk", ISA, "gather_transpose_kernel"), gather_arguments(256),
         gathered, refused=NO_GATHER),
    Case("gather_transpose_2d_kernel",
         Page("sdk", ISA, "gather_transpose_2d_kernel"),
         gather_arguments(512, 2), gathered, refused=NO_GATHER),
    Case("gather_transpose_4d_kernel",
         Page("sdk", ISA, "gather_transpose_4d_kernel"), gather_4d,
         gathered_4d, refused=NO_GATHER),
    Case("activate2_scale_bias_kernel",
         Page("sdk", ISA, "activate2_scale_bias_kernel"), normal((128, 512)),
         gelu, Tolerance(1e-5, 1e-6, "ours: float32, and its cancellation"),
         refused=NO_ACTIVATE2),
    Case("nisa.register_alloc", isa("6f636da2")),
    Case("nisa.register_move", isa("b4c1e246")),
    Case("nisa.register_load", isa("70939372")),
    Case("nisa.register_store", isa("c50d0860")),
    Case("nonzero_with_count_kernel, one partition",
         Page("sdk", ISA, "nonzero_with_count_kernel"), sparse(1, 8), found,
         refused=NOT_GEN2),
    Case("nonzero_with_count_kernel, 128 partitions",
         Page("sdk", ISA, "nonzero_with_count_kernel"), sparse(128, 8),
         lambda work, x: found(work, x)[::16], part=lambda result: result[::16],
         refused=NOT_GEN2, allowed=("memory.read_unwritten",),
         note="copies partitions that the instruction does not write; every "
         "sixteenth, which it writes, is compared"),
    Case("topk_kernel", isa("e08efc9f", "x", "", TOPK), snake, largest_eight,
         targets=GEN3, allowed=("topk.layout",),
         note="documents leave open where the values of a group are"),
    Case("nisa.core_barrier", isa(
        "efee4f49", "", SIZES + """\
core_id, core_barrier = nl.program_id(0), nisa.core_barrier
"""), targets=GEN3, grid=2, allowed=UNWRITTEN_READ, note=UNWRITTEN),
    Case("nisa.sendrecv", isa(
        "dafae318", "", SIZES + "sendrecv = nisa.sendrecv"),
        targets=GEN3, grid=2, allowed=UNWRITTEN_READ, note=UNWRITTEN),
]

CASES = [*LANGUAGE, *TENSORS, *INSTRUCTIONS]
