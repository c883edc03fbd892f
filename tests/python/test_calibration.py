"""Composite kernels of public sources (docs/timing-composites.md): that they
compute what they are said to, that their stream is the published one, and
that their time is within the stated error. The long ones run with --long."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import trnemu

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench" / "calibration"
# The package is named as the script beside it is, which runs it.
sys.path.insert(0, str(BENCH))

from composites import (  # noqa: E402
    exp,
    mamba,
    matmul_tutorial,
    rmsnorm_quant,
    silu,
    transpose_matmul,
    vector_add,
)
from composites.case import FIXED_NS, Case, Run, run  # noqa: E402
from composites.events import Event, active_ns  # noqa: E402
from composites.every import cases  # noqa: E402

CASES = cases()
QUICK = [c for c in CASES if c.quick]
LONG = [c for c in CASES if not c.quick]


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {case.id: run(case) for case in QUICK}


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


# --- What they compute, with values on, at their own or at smaller sizes.


@pytest.mark.parametrize("target, rows, columns", [
    ("trn1", 128, 1), ("trn1", 128, 200), ("trn2", 128, 1), ("trn2", 128, 2),
])
def test_vector_add_adds_every_element_once(
    target: str, rows: int, columns: int
) -> None:
    program = vector_add.vector_add(target, rows, columns)
    assert program.verify() == []
    shape = program.inputs["x"][0]
    x, y = normal(0, *shape), normal(1, *shape)
    np.testing.assert_array_equal(
        trnemu.run(program, {"x": x, "y": y}).outputs["z"], x + y
    )


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("kind", ["tiled", "hoisted", "blocked"])
def test_the_tutorials_matmul_multiplies(kind: str, dtype: str) -> None:
    sizes = matmul_tutorial.Sizes(k=2048, m=256, n=1024)
    if kind == "tiled":
        program = matmul_tutorial.tiled("trn2", dtype, "sync", sizes)
    elif kind == "hoisted":
        program = matmul_tutorial.hoisted("trn2", dtype, 2, 1, "sync", sizes)
    else:
        program = matmul_tutorial.blocked(
            "trn2", dtype, 2, ("sync", "gpsimd"), sizes
        )
    assert program.verify() == []
    numpy = np.dtype(getattr(ml_dtypes, dtype, dtype))
    left = normal(0, sizes.k, sizes.m).astype(numpy)
    right = normal(1, sizes.k, sizes.n).astype(numpy)
    got = trnemu.run(program, {"left": left, "right": right}).outputs["result"]
    want = left.astype(np.float64).T @ right.astype(np.float64)
    # bf16: partial sums of two blocks of the contraction are rounded to 8 bits.
    bound = 1e-6 if dtype == "float32" else 1e-2
    error = np.linalg.norm(got.astype(np.float64) - want) / np.linalg.norm(want)
    assert error < bound


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_silu_is_x_over_one_plus_exp_of_minus_x(target: str) -> None:
    program = silu.silu(target, middle=1)
    assert program.verify() == []
    x = normal(0, 128, 1, silu.F)
    got = trnemu.run(program, {"x": x}).outputs["y"]
    np.testing.assert_allclose(got, x / (1 + np.exp(-x)), rtol=2e-6, atol=1e-7)


def test_silu_of_one_activation_gives_the_same() -> None:
    x = normal(0, 128, 3, silu.CHUNK)
    got = trnemu.run(silu.streamed("trn2", tiles=3), {"x": x}).outputs["y"]
    np.testing.assert_allclose(got, x / (1 + np.exp(-x)), rtol=2e-6, atol=1e-7)


def test_transpose_matmul_contracts_the_first_two_dimensions() -> None:
    program = transpose_matmul.transpose_matmul(
        "trn2", 456, 456, "scalar", m_size=1024, n_size=912
    )
    assert program.verify() == []
    lhs, rhs = normal(0, 128, 16, 1024), normal(1, 128, 16, 912)
    got = trnemu.run(program, {"lhs": lhs, "rhs": rhs}).outputs["out"]
    want = np.einsum("pkm,pkn->mn", lhs, rhs, dtype=np.float64, optimize=True)
    error = np.linalg.norm(got.reshape(1024, 912) - want)
    assert error < 1e-6 * np.linalg.norm(want)


@pytest.mark.parametrize("rows, columns, load, mode", [
    (4, 4096, "sync", "none"), (128, 128, "gpsimd", "swdge"),
])
def test_exp_takes_the_exponential(
    rows: int, columns: int, load: str, mode: str
) -> None:
    x = normal(0, rows, columns).astype(ml_dtypes.bfloat16)
    program = exp.exp(rows, columns, load, mode)
    got = trnemu.run(program, {"x": x}).outputs["y"].astype(np.float64)
    np.testing.assert_allclose(got, np.exp(x.astype(np.float64)), rtol=2**-8)


def test_rmsnorm_quant_normalises_rows_and_scales_them_to_240() -> None:
    program = rmsnorm_quant.rmsnorm_quant()
    rows, width = rmsnorm_quant.ROWS, rmsnorm_quant.H
    # Largest where positive: the maximum is then that of the magnitudes.
    x = np.abs(normal(0, rows, width)).astype(ml_dtypes.bfloat16)
    gamma = (1 + 0.1 * normal(1, 1, width)).astype(ml_dtypes.bfloat16)
    outputs = trnemu.run(program, {"x": x, "gamma": gamma}).outputs
    wide = x.astype(np.float64)
    normed = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-6)
    normed *= gamma.astype(np.float64)
    scale = normed.max(axis=1, keepdims=True) / 240
    np.testing.assert_allclose(outputs["scales"], scale, rtol=2**-8)
    # A bf16 and an fp8 rounding, and what is left of subnormal fp8.
    np.testing.assert_allclose(
        outputs["y"].astype(np.float64), normed / scale, rtol=2**-4 + 2**-8,
        atol=2**-9,
    )


def test_mamba_is_the_recurrence_summed_over_the_states() -> None:
    program = mamba.mamba("trn1")
    assert program.verify() == []
    delta = np.abs(normal(0, 256, 512))
    u, a = normal(1, 256, 512), -np.abs(normal(2, 256, 16))
    b, c = normal(3, 16, 512), normal(4, 16, 512)
    got = trnemu.run(
        program, {"delta": delta, "u": u, "a": a, "b": b, "c": c}
    ).outputs["y"]
    want = np.zeros((256, 512))
    for s in range(16):
        state = np.zeros(256)
        for t in range(512):
            state = np.exp(delta[:, t].astype(np.float64) * a[:, s]) * state
            state += delta[:, t].astype(np.float64) * u[:, t] * b[s, t]
            want[:, t] += state * c[s, t]
    assert np.linalg.norm(got - want) < 1e-6 * np.linalg.norm(want)


# --- The stream: instructions of each opcode, worked out from the source's
# tile sizes here, and the bytes that its tiling moves.


def count(case_id: str) -> dict[str, int]:
    (case,) = [c for c in CASES if c.id == case_id]
    return case.opcodes


def test_the_counts_that_the_sources_print_are_those_of_the_cases() -> None:
    # kernel-optimization.rst, figures v2-pe and v5-pe.
    assert count("5 matmul fp32, tiled trn2")["MultiplyMoving"] == 65536
    assert count("5 matmul fp32, blocked trn2")["MultiplyMoving"] == 65536
    # KDA: 24,576 hardware matmuls.
    assert count("7 transpose_matmul trn2")["MultiplyMoving"] == 24576
    # AccelOpt: hardware_flops 377957122048, each 2 x 128 x 128 x 512.
    assert (
        count("7 transpose_matmul trn1")["MultiplyMoving"] * 2 * 128**2 * 512
        == 377957122048
    )
    # Three transfers and an addition for each chunk of 25,600 elements.
    assert count("3 vector add, chunks of 1 trn2")["DmaCopy"] == 76800


@pytest.mark.parametrize("case", QUICK, ids=lambda c: c.id)
def test_a_program_has_the_instructions_of_its_source(
    case: Case, runs: dict[str, Run]
) -> None:
    ran = runs[case.id]
    assert case.opcodes == {n: ran.opcode(n) for n in case.opcodes}


@pytest.mark.parametrize("case", QUICK, ids=lambda c: c.id)
def test_the_bytes_moved_are_those_of_the_tensors(
    case: Case, runs: dict[str, Run]
) -> None:
    # None of the quick kernels loads or stores anything twice.
    ran = runs[case.id]
    size = {
        name: int(np.prod(shape)) * dtype.numpy.itemsize
        for name, (shape, dtype) in
        {**ran.program.inputs, **ran.program.outputs}.items()
    }
    read = sum(size[name] for name in ran.program.inputs)
    assert ran.profile.hbm_read_bytes == read
    assert ran.profile.hbm_write_bytes == sum(size.values()) - read


# --- The time.


@pytest.mark.parametrize("case", QUICK, ids=lambda c: c.id)
def test_a_composite_is_within_its_stated_error(
    case: Case, runs: dict[str, Run]
) -> None:
    assert abs(runs[case.id].error) <= case.bound


@pytest.mark.long
@pytest.mark.parametrize("case", LONG, ids=lambda c: c.id)
def test_a_long_composite_is_within_its_stated_error(case: Case) -> None:
    ran = run(case)
    assert case.opcodes == {n: ran.opcode(n) for n in case.opcodes}
    assert abs(ran.error) <= case.bound


def test_a_bound_above_15_percent_has_a_written_reason() -> None:
    assert [c.id for c in CASES if c.bound > 0.15 and not c.reason] == []


def test_rmsnorm_quant_has_the_times_of_each_phase_of_its_picture(
    runs: dict[str, Run]
) -> None:
    # 10 % is what figures that were read off pictures are held to.
    ran = runs["8 rmsnorm_quant, whole trn2"]
    for figure in ran.case.figures:
        assert figure.ours(ran) == pytest.approx(figure.published, rel=0.1), (
            figure.name
        )


def test_exp_has_the_phases_of_its_picture_one_after_the_other(
    runs: dict[str, Run]
) -> None:
    for ran in (r for r in runs.values() if r.case.row == "2"):
        lengths = {f.name: f.ours(ran) for f in ran.case.figures}
        assert sum(lengths.values()) == pytest.approx(ran.kernel_ns)
        assert min(lengths.values()) > 0
        # spec/timing.md 1.3: measured laws of single instructions.
        assert lengths["table load"] == pytest.approx(1283)
        n = 4096 if "[4," in ran.case.name else 128
        assert lengths["ACTIVATE"] == pytest.approx(
            295.7 + 0.833 * n, rel=0.03
        )


def test_active_time_counts_overlapping_instructions_once() -> None:
    several = [
        Event(0, "vector", "A", 10, 20), Event(0, "vector", "B", 15, 30),
        Event(0, "scalar", "C", 0, 100), Event(0, "vector", "D", 40, 45),
    ]
    assert active_ns(several, "vector") == 20 + 5


def test_the_clocks_of_the_sources_hold_what_they_are_said_to() -> None:
    # timing.md 2.3: 9.40 us; 12.6 to 13 us before and 2 to 3.4 us after.
    assert FIXED_NS["kernel"] == 0 and FIXED_NS["nc_latency"] == 9400
    assert 12600 + 2000 <= FIXED_NS["profile"] <= 13000 + 3400


# --- The script.


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, BENCH / "composites.py", *arguments],
        capture_output=True, text=True,
    )


def test_the_script_lists_every_row() -> None:
    listed = script("--list").stdout.splitlines()
    assert sorted(listed) == sorted(c.id for c in CASES)


def test_the_script_runs_the_rows_it_is_asked_for() -> None:
    done = script("--target", "trn2", "--only", "exp of")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" | trn2 | ") == 2
    assert "2 rows, median error" in done.stdout


def test_the_script_writes_no_page_of_some_rows() -> None:
    done = script("--quick", "--write", "unwanted.md")
    assert done.returncode == 2 and "all rows" in done.stderr


def test_the_page_has_every_row() -> None:
    page = (ROOT / "docs" / "timing-composites.md").read_text()
    for case in CASES:
        assert f"### {case.row}: {case.name}, {case.target}\n" in page
