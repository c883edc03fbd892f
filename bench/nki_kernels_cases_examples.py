"""Kernels of the SDK documentation's example files."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nki_kernels_case import (
    BF16,
    Case,
    File,
    Script,
    Tolerance,
    Work,
    refused,
)

EXAMPLES = "nki/examples"
ALLCLOSE = Tolerance(1e-5, 1e-8, "np.allclose of the source")
OVER_128 = (
    "the page shows it as an error: a tile has at most 128 partitions"
)


def example(path: str, function: str) -> File:
    return File("sdk", f"{EXAMPLES}/{path}", function)


def ones(work: Work) -> tuple[Any, ...]:
    return (np.ones((4, 3), np.float16), np.ones((4, 3), np.float16))


def added(work: Work, a: Any, b: Any) -> Any:
    return a + b


def uniform(*shapes: tuple[int, ...], dtype: Any = np.float32) -> Any:
    """Arguments: uniform numbers of [0, 1) of these shapes."""

    def make(work: Work) -> tuple[Any, ...]:
        return tuple(
            work.rng.random(s, np.float32).astype(dtype) for s in shapes
        )

    return make


def normal(*shapes: tuple[int, ...], dtype: Any = np.float32) -> Any:
    """Arguments: standard normal numbers of these shapes."""

    def make(work: Work) -> tuple[Any, ...]:
        return tuple(
            work.rng.standard_normal(s, np.float32).astype(dtype)
            for s in shapes
        )

    return make


def exponential(work: Work, x: Any) -> Any:
    return np.exp(x.astype(np.float32))


def counted(*shape: int, dtype: Any) -> Any:
    """One argument: 0, 1, 2, ... in that shape, as the sources have it."""

    def make(work: Work) -> tuple[Any, ...]:
        return (np.arange(np.prod(shape)).astype(dtype).reshape(shape),)

    return make


def pool_arguments(dtype: Any) -> Any:
    counts = counted(2, 6, 6, dtype=dtype)
    return lambda work: (*counts(work), 2)


def pooled(work: Work, x: Any, size: int) -> Any:
    return work.module.np_average_pool_2D(x.astype(np.float32), size)


def largest(work: Work, x: Any, size: int) -> Any:
    c, h, w = x.shape
    windows = x.reshape(c, h // size, size, w // size, size)
    return windows.max(axis=(2, 4))


def torch_pool_arguments(work: Work) -> tuple[Any, ...]:
    import torch

    x = torch.arange(72, dtype=torch.bfloat16).reshape(2, 6, 6)
    return (x, 2)


def torch_pooled(work: Work, x: Any, size: int) -> Any:
    import torch

    return torch.nn.functional.avg_pool2d(x, size, size)


def transposed(work: Work, x: Any, shape: tuple[int, int]) -> Any:
    p, (rows, columns) = len(x), shape
    by_row = x.reshape(p, rows, columns)
    return np.transpose(by_row, (0, 2, 1)).reshape(p, rows * columns)


def mamba_ones(channels: int, length: int) -> Any:
    """What the source runs: ones, and -1 for A."""

    def make(work: Work) -> tuple[Any, ...]:
        shapes = ((1, channels, length),) * 2, ((1, 16, length),) * 2
        delta, u = (np.ones(s, np.float32) for s in shapes[0])
        b, c = (np.ones(s, np.float32) for s in shapes[1])
        return delta, u, -np.ones((channels, 16), np.float32), b, c

    return make


def mamba_uniform(work: Work) -> tuple[Any, ...]:
    shapes = ((1, 128, 1024),) * 2 + ((128, 4),) + ((1, 4, 1024),) * 2
    delta, u, a, b, c = uniform(*shapes)(work)
    return delta, u, -a, b, c


def mamba_torch(work: Work, delta: Any, u: Any, a: Any, b: Any, c: Any) -> Any:
    """The tutorial's own reference, in the order of its arguments."""
    import torch

    layer = work.beside("mamba_torch.py").mamba_layer
    delta, a, b, u, c = (torch.from_numpy(x) for x in (delta, a, b, u, c))
    return layer(delta, a, b, u, c).numpy()


def mamba_first(work: Work, *arguments: Any) -> Any:
    """The first version, run by us: what the source compares others with."""
    import nki

    return nki.simulate(work.module.mamba_v1)(*arguments)


MAMBA = "fused_mamba/mamba_nki_kernels.py"
MAMBA_TOLERANCE = Tolerance(1e-2, 1e-2, "mamba_torch.py")
SAME = Tolerance(origin="np.all(==) of the source, with version 1")

STARTED = [
    Case("nki_tensor_add_kernel",
         example(f"{file}.py", "nki_tensor_add_kernel"), ones, added)
    for file in ("getting_started_baremetal", "getting_started_torch",
                 "getting_started_jax")
]

CASES = [
    *STARTED,
    Case("the file as a script",
         Script("sdk", f"{EXAMPLES}/getting_started_baremetal.py")),
    Case("add_kernel",
         example("simulate/nki_simulate_example.py", "add_kernel"),
         uniform((128, 512), (128, 512)), added,
         Tolerance(1e-5, 0.0, "assert_allclose of the source")),
    Case("the file as a script",
         Script("sdk", f"{EXAMPLES}/simulate/nki_simulate_example.py")),
    Case("tensor_exp_kernel_", example("layout-pass.py", "tensor_exp_kernel_"),
         normal((128, 512), dtype=ml_dtypes.bfloat16), exponential, BF16),
    Case("tensor_exp_kernel_",
         example("layout-violation.py", "tensor_exp_kernel_"),
         normal((256, 512), dtype=ml_dtypes.bfloat16), exponential, BF16,
         refused=refused("tile.partitions", OVER_128)),
    Case("tensor_split_kernel_",
         example("index-case-1.py", "tensor_split_kernel_"),
         counted(4, 5, dtype=ml_dtypes.bfloat16),
         lambda work, x: (x[:, ::2], x[:, 1::2])),
    Case("tensor_maxpool_kernel_",
         example("index-case-3.py", "tensor_maxpool_kernel_"),
         pool_arguments(ml_dtypes.bfloat16), largest),
    Case("tensor_avgpool_kernel",
         example("average_pool2d/average_pool2d_nki_kernels.py",
                 "tensor_avgpool_kernel"),
         pool_arguments(np.float16), pooled,
         Tolerance(origin="(==).all() of the source")),
    Case("tensor_avgpool_kernel, torch bfloat16",
         example("average_pool2d/average_pool2d_nki_kernels.py",
                 "tensor_avgpool_kernel"),
         torch_pool_arguments, torch_pooled,
         Tolerance(origin="(==).all() of average_pool2d_torch.py")),
    Case("the file as a script", Script(
        "sdk", f"{EXAMPLES}/average_pool2d/average_pool2d_nki_kernels.py")),
    Case("tensor_transpose2D_kernel_",
         example("transpose2d/transpose2d_nki_kernels.py",
                 "tensor_transpose2D_kernel_"),
         lambda work: (*counted(5, 12, dtype=np.int8)(work), (3, 4)),
         transposed, ALLCLOSE),
    Case("tensor_transpose2D_kernel_, float32 37 x 44",
         example("transpose2d/transpose2d_nki_kernels.py",
                 "tensor_transpose2D_kernel_"),
         lambda work: (*uniform((5, 37 * 44))(work), (37, 44)),
         transposed, ALLCLOSE),
    Case("the file as a script", Script(
        "sdk", f"{EXAMPLES}/transpose2d/transpose2d_nki_kernels.py")),
    Case("nki_tensor_add",
         example("tensor_addition/tensor_addition_nki_kernels.py",
                 "nki_tensor_add"),
         normal((256, 1024), (256, 1024)), added),
    Case("mamba_v1", example(MAMBA, "mamba_v1"), mamba_ones(256, 512),
         mamba_torch, MAMBA_TOLERANCE),
    *[Case(f"{version}, uniform", example(MAMBA, version), mamba_uniform,
           mamba_torch, MAMBA_TOLERANCE)
      for version in ("mamba_v1", "mamba_v2", "mamba_v3")],
    *[Case(version, example(MAMBA, version), mamba_ones(256, 2048),
           mamba_first, SAME)
      for version in ("mamba_v2", "mamba_v3")],
    Case("the file as a script", Script("sdk", f"{EXAMPLES}/{MAMBA}")),
]
