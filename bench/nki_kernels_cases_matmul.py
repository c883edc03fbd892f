"""Matrix multiplications: of the SDK's tutorial, its guides, and nki-samples,
and the MX kernels of both."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nki_kernels_case import (
    ALL,
    GEN4,
    Case,
    File,
    Page,
    Source,
    Tolerance,
    Work,
    refused,
)

# The source's torch.allclose of bfloat16 numbers of [0, 1).
BF16_MATMUL = Tolerance(1e-2, 1e-4, "matrix_multiplication_torch.py")
F32_MATMUL = Tolerance(1e-5, 1e-8, "np.allclose of the guide")
MX = Tolerance(5e-2, 5e-2, "mx_toplevel.py")
SAMPLES = "src/nki_samples/tutorials"


def factors(k: int, m: int, n: int, dtype: Any) -> Any:
    """lhs (transposed, as the kernels take it) and rhs, uniform in [0, 1)."""

    def make(work: Work) -> tuple[Any, ...]:
        lhs = work.rng.random((m, k), np.float32).astype(dtype)
        rhs = work.rng.random((k, n), np.float32).astype(dtype)
        return np.ascontiguousarray(lhs.T), rhs

    return make


def torch_product(work: Work, lhs_t: Any, rhs: Any) -> Any:
    """torch.matmul, as the source compares with, in its dtype."""
    import torch

    pair = [torch.from_numpy(x.view(np.uint16)) for x in (lhs_t, rhs)]
    lhs_t, rhs = (x.view(torch.bfloat16) for x in pair)
    return torch.matmul(lhs_t.T, rhs)


def product(work: Work, lhs_t: Any, rhs: Any) -> Any:
    return lhs_t.T @ rhs


# Kernel, and the source's sizes of its arguments (K, M, N).
LARGE = (1024, 4096, 2048)
MATMULS = {
    "nki_matmul_basic_": (128, 64, 512),
    "nki_matmul_tiled_": LARGE,
    "nki_matmul_hoist_load_": LARGE,
    "nki_matmul_block_free_dimension_": LARGE,
    "nki_matmul_fully_optimized_": LARGE,
}
FILE = "matrix_multiplication/matrix_multiplication_nki_kernels.py"


# nki-samples is of NKI 0.2, and passes to tensor_copy a dtype that it ignores.
OF_0_2: dict[str, Any] = {
    "api": "0.2",
    "allowed": ("nki.ignored_argument",),
    "note": "passes tensor_copy a dtype, which NKI 0.2 ignores",
}
WITHOUT_DTYPE = (
    "nki_matmul_block_free_dimension_",
    "nki_matmul_fully_optimized_",
)


def matmuls(copy: str, folder: str, **options: Any) -> list[Case]:
    api = options.get("api", "")
    return [
        Case(name, File(copy, f"{folder}/{FILE}", name),
             factors(*sizes, ml_dtypes.bfloat16), torch_product, BF16_MATMUL,
             **(options if name not in WITHOUT_DTYPE else {"api": api}))
        for name, sizes in MATMULS.items()
    ]


GUIDE = "nki/guides/tutorials/kernel-optimization.rst"
# Beyond the one tile these are the least that the last version takes.
SMALLER = (
    "K, M, N are 1024, 2048, 1024 here, and 8192, 4096, 8192 where the guide "
    "profiles"
)
SIZES = [(128, 128, 512), *[(1024, 2048, 1024)] * 4]
STEPS = ["one tile", "tiled", "loads hoisted", "blocked", "fully blocked"]
GUIDES = [
    Case(f"matrix_multiply_kernel, {step}",
         Page("sdk", GUIDE, "matrix_multiply_kernel", number),
         factors(*sizes, np.float32), product, F32_MATMUL,
         note=SMALLER if number else "")
    for number, (step, sizes) in enumerate(zip(STEPS, SIZES, strict=True))
]


def offline(quantized: Any) -> Any:
    def make(work: Work) -> tuple[Any, ...]:
        cpu = work.beside("mx_cpu_utils.py")
        np.random.seed(work.seed)
        _, _, st, st_scale = cpu.generate_stabilized_mx_data(
            quantized, (128, 128 * 4))
        _, _, mv, mv_scale = cpu.generate_stabilized_mx_data(
            quantized, (128, 512 * 4))
        return st, st_scale, mv, mv_scale, x4(work, quantized)

    return make


def x4(work: Work, quantized: Any) -> Any:
    """The packed dtype that the kernels view the data as."""
    return getattr(work.nl, f"{np.dtype(quantized).name}_x4")


def offline_golden(quantized: Any) -> Any:
    def golden(work: Work, *arguments: Any) -> Any:
        st, st_scale, mv, mv_scale, _ = arguments
        cpu = work.beside("mx_cpu_utils.py")
        return cpu.nc_matmul_mx_golden(
            st, mv, st_scale, mv_scale, quantized, quantized)

    return golden


def on_device(stationary: Any, moving: Any) -> Any:
    def make(work: Work) -> tuple[Any, ...]:
        cpu = work.beside("mx_cpu_utils.py")
        np.random.seed(work.seed)
        _, _, st, st_scale = cpu.generate_stabilized_mx_data(
            stationary, (128, 128 * 4))
        mv, _, _, _ = cpu.generate_stabilized_mx_data(moving, (128, 512 * 4))
        return (st, st_scale, mv.astype(ml_dtypes.bfloat16),
                x4(work, stationary), x4(work, moving))

    return make


def on_device_golden(stationary: Any, moving: Any) -> Any:
    def golden(work: Work, st: Any, st_s: Any, mv: Any, *_: Any) -> Any:
        cpu = work.beside("mx_cpu_utils.py")
        data, scale = cpu.quantize_mx_golden(mv.astype(np.float32), moving)
        return cpu.nc_matmul_mx_golden(
            st, data, st_s, scale, stationary, moving)

    return golden


def strided(use_tensor_copy: bool) -> Any:
    def make(work: Work) -> tuple[Any, ...]:
        cpu = work.beside("mx_cpu_utils.py")
        np.random.seed(work.seed)
        e5m2 = ml_dtypes.float8_e5m2
        st, mv = (cpu.generate_stabilized_mx_data(e5m2, (512, n))[0]
                  for n in (128, 512))
        return (st.astype(ml_dtypes.bfloat16), mv.astype(ml_dtypes.bfloat16),
                x4(work, e5m2), use_tensor_copy)

    return make


def strided_golden(work: Work, st: Any, mv: Any, *_: Any) -> Any:
    return st.astype(np.float32).T @ mv.astype(np.float32)


def mx(copy: str, folder: str, packed: bool, **options: Any) -> list[Case]:
    """The runs of mx_toplevel.py."""
    e5m2, e2m1 = ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn

    def source(function: str) -> Source:
        return File(copy, f"{folder}/mx_kernels.py", function)

    def case(name: str, function: str, make: Any, golden: Any) -> Case:
        return Case(name, source(function), make, golden, MX, GEN4, **options)

    name = "kernel_offline_quantized_mx_matmul"
    cases = [
        case(f"{name}, {np.dtype(q).name}", name, offline(q), offline_golden(q))
        for q in (e5m2, e2m1)
    ]
    name = "kernel_on_device_quantize_matmul_mx"
    cases += [
        case(f"{name}, {np.dtype(q).name} by float8_e5m2", name,
             on_device(q, e5m2), on_device_golden(q, e5m2))
        for q in (e2m1, e5m2)
    ]
    names = ["kernel_copy_strided_quantize_matmul_mx"]
    if packed:
        names.append(f"{names[0]}_packed_scale")
    return cases + [
        case(f"{name}, strided by {how}", name, strided(how == "tensor_copy"),
             strided_golden)
        for name in names
        for how in ("tensor_copy", "DMA")
    ]


MX_FOLDER = "nki/deep-dives/src/mxfp-matmul"
BEFORE_GEN4 = "nki.isa.nc_matmul_mx: NeuronCore-v4 (trn3) and newer"

PROFILED = Case(
    "nki_matmul",
    Page("sdk", "nki/guides/use-neuron-profile.rst", "nki_matmul"),
    factors(1024, 2048, 1024, ml_dtypes.bfloat16), torch_product, BF16_MATMUL,
    targets=ALL,
    note="the tutorial's sizes are 2048 x 2048 x 2048, through torch_neuronx",
)

CASES = [
    *matmuls("sdk", "nki/examples"),
    *GUIDES,
    PROFILED,
    *mx("sdk", MX_FOLDER, packed=True),
    Case("kernel_offline_quantized_mx_matmul, before trn3",
         File("sdk", f"{MX_FOLDER}/mx_kernels.py",
              "kernel_offline_quantized_mx_matmul"),
         offline(ml_dtypes.float8_e5m2), None, MX, ("trn1", "trn2"),
         refused=refused("nc_matmul_mx.generation", BEFORE_GEN4)),
    *matmuls("samples", SAMPLES, **OF_0_2),
    *mx("samples", f"{SAMPLES}/mxfp-matmul", packed=False, **OF_0_2),
]
