"""Whole kernels in the pages of the SDK documentation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nki_kernels_case import (
    BF16,
    F32,
    Case,
    Page,
    Work,
    refused,
)
from nki_kernels_cases_examples import (
    OVER_128,
    added,
    exponential,
    normal,
    uniform,
)

START = "nki/get-started"
LANGUAGE = f"{START}/nki-language-guide.rst"
TILING = f"{START}/about/tiling-overview.rst"
LNC = f"{START}/about/lnc.rst"
DMA = f"{START}/about/nki-dma-overview.rst"
SCHEDULE = "nki/guides/how-to-scheduling-apis.rst"
SIMULATOR = "nki/guides/nki_simulator.rst"
APS = "nki/deep-dives/nki-aps.rst"
PERFORMANCE = "nki/deep-dives/nki_perf_guide.rst"
MIGRATION = "nki/migration/index.rst"
TILE = (128, 512)


def page(path: str, function: str, number: int = 0) -> Page:
    return Page("sdk", path, function, number)


def positive(*shapes: tuple[int, ...]) -> Any:
    """Arguments: uniform in [1, 2), so that reciprocals are harmless."""
    make = uniform(*shapes)
    return lambda work: tuple(x + np.float32(1) for x in make(work))


def reciprocal(work: Work, x: Any) -> Any:
    return np.float32(1) / x


def in_out(make: Any) -> Any:
    """The argument, and another for the kernel to write."""

    def both(work: Work) -> tuple[Any, ...]:
        (x,) = make(work)
        return x, np.zeros_like(x)

    return both


def exponentials(work: Work, *tiles: Any) -> Any:
    return tuple(np.exp(x) for x in tiles)


THREE = normal((128, 64), (128, 64), (128, 64))
SCHEDULED = [("act1", "act0"), ("act2", "act1")]
CORES = (
    "the page calls more than two cores an error on current hardware"
)
NO_LNC = refused(
    "program.logical_core",
    "the page: an error where the architecture has not that many cores; trn1 "
    "has no logical cores of two",
    "trn1",
)
COUNTS = (
    "nki.isa.dma_copy: dst and src have the same number of elements; the last "
    "tile of 300 rows has 44, the page's tile 128"
)

CASES = [
    Case("nki_tensor_add_kernel", page(LANGUAGE, "nki_tensor_add_kernel"),
         normal(TILE, TILE), added),
    Case("nki_tensor_add_kernel",
         page(f"{START}/quickstart-implement-run-kernel.rst",
              "nki_tensor_add_kernel"),
         lambda work: (np.ones((4, 3), np.float16),) * 2, added),
    Case("example_kernel", page(LANGUAGE, "example_kernel"),
         normal((512, 512), dtype=np.float16),
         note="the page's kernel keeps its result on chip: nothing to compare"),
    Case("relu_kernel", page(LANGUAGE, "relu_kernel"),
         in_out(normal((256, 512))),
         lambda work, x, _: np.maximum(x, 0), in_place=(1,)),
    Case("scale_kernel", page(LANGUAGE, "scale_kernel"),
         in_out(normal((256, 512))),
         lambda work, x, _: x * np.float32(0.5), in_place=(1,)),
    *[Case(f"lnc_test, {grid} cores" if grid else "lnc_test",
           page(LNC, "lnc_test", 1), positive((2, 128, 128)), reciprocal, F32,
           grid=grid, refused=NO_LNC if grid == 2 else {})
      for grid in (None, 1, 2)],
    *[Case(f"lnc_test of cores, {grid}" if grid else "lnc_test of cores",
           page(LNC, "lnc_test", 0), normal((2, 4)), grid=grid,
           refused=NO_LNC if grid == 2 else {}, prints=(said,))
      for grid, said in ((None, "one core"), (2, "multiple cores"))],
    Case("lnc_test, 8 cores", page(LNC, "lnc_test", 1), positive((2, 128, 128)),
         reciprocal, F32, grid=8, refused=refused("nki.grid", CORES)),
    Case("tensor_exp_kernel_isa", page(DMA, "tensor_exp_kernel_isa", 0),
         normal((4, 4096), dtype=ml_dtypes.bfloat16), exponential, BF16),
    Case("tensor_exp_kernel_isa, 128 x 128",
         page(DMA, "tensor_exp_kernel_isa", 1),
         normal((128, 128), dtype=ml_dtypes.bfloat16), exponential, BF16),
    Case("tensor_exp_kernel_ of 256 x 512",
         page(TILING, "tensor_exp_kernel_", 0), positive((256, 512)),
         reciprocal, F32, note="the page's kernel takes reciprocals"),
    Case("tensor_exp_kernel_ of any shape, 256 x 100",
         page(TILING, "tensor_exp_kernel_", 1), positive((256, 100)),
         reciprocal, F32),
    Case("tensor_exp_kernel_ of any shape, 300 x 100",
         page(TILING, "tensor_exp_kernel_", 1), positive((300, 100)),
         reciprocal, F32, refused=refused("dma_copy.size", COUNTS),
         note="wrong in the page: see the reason"),
    *[Case(name, page(SCHEDULE, "kernel", 0), positive((128, 64)),
           lambda work, t: np.float32(1) / t + (t + np.float32(1)), F32,
           prepare=prepare)
      for name, prepare in (
          ("kernel", lambda kernel: kernel),
          ("kernel, with_schedule",
           lambda kernel: kernel.with_schedule([("plus1", ["recip"])])))],
    *[Case(name, page(SCHEDULE, function, number), THREE, exponentials, F32,
           prepare=prepare)
      for name, function, number, prepare in (
          ("kernel of three", "kernel", 1, lambda kernel: kernel),
          ("kernel of three, with_schedule", "kernel", 1,
           lambda kernel: kernel.with_schedule(SCHEDULED)),
          ("loop", "loop", 0, lambda kernel: kernel),
          ("loop with loop_body", "loop", 1, lambda kernel: kernel))],
    Case("my_kernel with device_print", page(SIMULATOR, "my_kernel", 1),
         normal((4, 8)), prints=("my tile",)),
    Case("bad_kernel", page(SIMULATOR, "bad_kernel"), normal(TILE),
         refused=refused("tile.partitions", OVER_128)),
    Case("scalar_dynamic_select", page(APS, "scalar_dynamic_select"),
         normal((4, *TILE)), lambda work, a: a[3]),
    Case("scalar_dynamic_dma", page(APS, "scalar_dynamic_dma"),
         normal((512, 512)), lambda work, a: a[384:, :256]),
    Case("gather_rows", page(APS, "gather_rows"), normal(TILE),
         lambda work, a: a[::2]),
    Case("indirect_vector_dynamic_dma",
         page(APS, "indirect_vector_dynamic_dma"), normal(TILE),
         lambda work, a: a[::2]),
    Case("load_store_32kib_contiguous",
         page(PERFORMANCE, "load_store_32kib_contiguous"),
         in_out(normal((128, 1024))), lambda work, x, _: x, in_place=(1,)),
    Case("indirect_scalar_dynamic_dma",
         page(MIGRATION, "indirect_scalar_dynamic_dma"), normal((512, 512)),
         lambda work, a: a[384:, :256]),
    Case("indirect_vector_dynamic_dma",
         page(MIGRATION, "indirect_vector_dynamic_dma"), normal(TILE),
         lambda work, a: a[::2]),
    *[Case(f"sb_blocks_migrated, {how}",
           page(MIGRATION, "sb_blocks_migrated", number),
           normal((8, *TILE)), lambda work, x: x)
      for number, how in enumerate(("one tile", "a tile each"))],
    Case("sb_blocks_migrated_incorrect",
         page(MIGRATION, "sb_blocks_migrated_incorrect"), normal((8, *TILE)),
         lambda work, x: x,
         note="incorrect in speed, says the page: its result is right"),
    Case("kernel_without_sbm",
         page("nki/library/kernel-utils/allocator.rst", "kernel_without_sbm"),
         normal((4, 8), (4, 8)),
         prints=("buf1.address = (0, 0)", "buf2.address = (0, 1024)",
                 "buf3.address = (0, 1536)", "buf4.address = (0, 1024)")),
]
