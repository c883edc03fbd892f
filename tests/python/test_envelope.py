"""The numerics envelope: how far outputs move under open rounding choices, and
which choice moves them most."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trnemu
from cli_kit import SUCCESS, USAGE, refuses
from cli_kit import trnemu as command

F32 = np.float32


def program(make, **shapes):
    """Inputs as named, and an output y that make(b, tiles) gives."""
    b = trnemu.ProgramBuilder(name="k")
    tiles = {}
    for name, (shape, dtype) in shapes.items():
        x = b.input(name, shape, dtype)
        tiles[name] = b.sbuf(shape, dtype)
        b.dma_copy(dst=tiles[name], src=x)
    out = make(b, **tiles)
    y = b.output("y", out.shape, str(out.dtype))
    b.dma_copy(dst=y, src=out)
    return b.build()


def softmax(b, x):
    t, s = b.sbuf(x.shape, "float32"), b.sbuf((x.shape[0], 1), "float32")
    b.activation(dst=t, op="exp", data=x)
    b.tensor_reduce(dst=s, data=t, op="add", axis=1)
    b.activation(dst=s, op="reciprocal", data=s)
    b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=s)
    return t


def total(b, x):
    t = b.sbuf((x.shape[0], 1), "float32")
    b.tensor_reduce(dst=t, data=x, op="add", axis=1)
    return t


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(F32)


def test_copies_and_integers_and_exact_sums_do_not_move():
    def make(b, x, n):
        b.tensor_tensor(dst=n, data1=n, data2=n, op="add", engine="gpsimd")
        b.tensor_copy(dst=x, src=n)
        t = b.sbuf((16, 1), "float32")
        b.tensor_reduce(dst=t, data=x, op="add", axis=1)
        return t

    p = program(make, x=((16, 32), "float32"), n=((16, 32), "int32"))
    e = trnemu.envelope(p, {"x": normal(16, 32),
                            "n": np.arange(512, dtype=np.int32).reshape(16, 32)})
    y = e.outputs["y"]
    assert (y.max_abs, y.max_ulp, y.different, y.causes) == (0, 0, 0, {})
    assert (y.cause, y.where, y.run) == (None, None, None)
    assert "the same bits under every choice" in str(e)


def test_softmax_moves_by_table_error_of_the_class_that_silicon_shows():
    """Silicon is 2.4e-5 to 4.8e-5 of rms from exact (decisions.md). Flat rows
    move by as much; where elements stand out, rms is small beside them, and
    the envelope holds silicon's figures with room."""
    p = program(softmax, x=((128, 512), "float32"))
    flat = trnemu.envelope(p, {"x": normal(128, 512) * F32(0.1)}, n=4)
    assert 2.4e-5 <= flat.outputs["y"].relative <= 4.8e-5
    e = trnemu.envelope(p, {"x": normal(128, 512)}, n=4)
    y = e.outputs["y"]
    assert y.cause == flat.outputs["y"].cause == "table_error"
    assert 4.8e-5 <= y.relative <= 1e-3, y.relative
    others = {k: v for k, v in y.causes.items() if k != "table_error"}
    assert all(v < y.relative / 10 for v in others.values()), others
    assert "table_error" in e.runs[y.run].numerics
    assert y.relative == pytest.approx(y.max_abs / y.rms)


def test_a_sum_that_cancels_moves_by_its_order():
    x = normal(8, 512)
    x[:, 256:] = -x[:, 255::-1]  # what adds up to 0
    p = program(total, x=((8, 512), "float32"))
    y = trnemu.envelope(p, {"x": x}, n=2).outputs["y"]
    assert y.cause == "reduce" and list(y.causes) == ["reduce"]
    assert y.max_abs < 1e-4 and y.base != y.other
    # In fp64 each product cancels: the sum is 0 exactly.
    exact = trnemu.run(p, {"x": x}, numerics={"reduce": "exact"})
    assert (exact.outputs["y"] == 0).all()


def test_a_matmul_moves_by_its_order():
    def make(b, a, c):
        ps = b.psum((64, 64), "float32")
        b.nc_matmul(dst=ps, stationary=a, moving=c)
        t = b.sbuf((64, 64), "float32")
        b.tensor_copy(dst=t, src=ps)
        return t

    p = program(make, a=((128, 64), "float32"), c=((128, 64), "float32"))
    y = trnemu.envelope(p, {"a": normal(128, 64), "c": normal(128, 64)},
                        n=0).outputs["y"]
    assert y.cause == "matmul" and 0 < y.relative < 1e-5


def test_multiply_and_add_move_by_fusing():
    def make(b, x):
        b.tensor_scalar(dst=x, data=x, op0="multiply", operand0=1.1, op1="add",
                        operand1=-1.1)
        return x

    p = program(make, x=((8, 64), "float32"))
    y = trnemu.envelope(p, {"x": normal(8, 64)}, n=0).outputs["y"]
    assert list(y.causes) == ["two_ops"]


def test_a_result_that_is_finite_in_one_run_alone_is_an_infinite_distance():
    def make(b, x):
        b.tensor_scalar(dst=x, data=x, op0="multiply", operand0=1.0)
        b.reciprocal(dst=x, data=x)
        return x

    p = program(make, x=((1, 2), "float32"))
    y = trnemu.envelope(p, {"x": np.array([[5e-39, 1]], F32)},
                        n=0).outputs["y"]
    assert (y.cause, y.max_abs, y.not_finite) == ("subnormals", np.inf, 1)


def test_ulps_count_steps_of_the_outputs_dtype():
    def make(b, x):
        t = b.sbuf(x.shape, "bfloat16")
        b.activation(dst=t, op="tanh", data=x)
        return t

    p = program(make, x=((64, 64), "float32"))
    y = trnemu.envelope(p, {"x": normal(64, 64)}, n=0).outputs["y"]
    assert y.max_ulp == 1 and 0 < y.different < 64 * 64 / 50


def test_the_same_seed_draws_the_same_combinations():
    p = program(total, x=((4, 64), "float32"))
    runs = [trnemu.envelope(p, {"x": normal(4, 64)}, n=5, envelope_seed=s)
            for s in (1, 1, 2)]
    drawn = [[r.numerics for r in e.runs if not r.single] for e in runs]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 5
    singles = [r for r in runs[0].runs if r.single]
    assert all(len(r.numerics) == 1 for r in singles)
    assert {next(iter(r.numerics)) for r in singles} == {
        "matmul", "tf32", "scale_bias", "subnormals", "reduce", "two_ops",
        "table_error"}


def test_the_base_is_the_program_as_the_options_say():
    p = program(total, x=((4, 64), "float32"))
    x = {"x": normal(4, 64)}
    e = trnemu.envelope(p, x, n=0, numerics={"reduce": "exact"})
    want = trnemu.run(p, x, numerics={"reduce": "exact"}).outputs["y"]
    np.testing.assert_array_equal(e.base.outputs["y"], want)
    assert {"reduce": "sequential"} in [r.numerics for r in e.runs]


def test_inout_tensors_start_the_same_in_every_run():
    b = trnemu.ProgramBuilder()
    y = b.inout("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    b.dma_copy(dst=t, src=y)
    b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
    b.dma_copy(dst=y, src=t)
    e = trnemu.envelope(b.build(), {"y": np.ones((4, 8), F32)}, n=3)
    assert e.outputs["y"].max_abs == 0
    assert (e.base.outputs["y"] == 2).all()


def test_what_is_wrong_with_a_call_is_said():
    p = program(total, x=((4, 64), "float32"))
    with pytest.raises(TypeError, match="colour"):
        trnemu.envelope(p, {"x": normal(4, 64)}, colour=1)
    with pytest.raises(ValueError, match="values"):
        trnemu.envelope(p, {"x": normal(4, 64)}, values=False)
    with pytest.raises(ValueError, match="negative"):
        trnemu.envelope(p, {"x": normal(4, 64)}, n=-1)
    with pytest.raises(trnemu.Fault):
        trnemu.envelope(p, {"x": normal(4, 63)})


def test_the_command_prints_a_table_or_json(tmp_path):
    path, x = tmp_path / "k.trn", tmp_path / "x.npy"
    p = program(softmax, x=((8, 64), "float32"))
    p.save(str(path))
    np.save(x, normal(8, 64))
    result = command("run", path, "--input", f"x={x}", "--envelope", 2)
    assert result.returncode == SUCCESS, result.stderr
    for words in ("2 random combinations", "y (8, 64) float32", "of rms",
                  "cause   table_error"):
        assert words in result.stdout, result.stdout
    report = json.loads(command("run", path, "--input", f"x={x}", "--envelope",
                                2, "--json").stdout)
    assert report["envelope"]["schema"] == 1
    same = json.loads(trnemu.envelope(p, {"x": normal(8, 64)}, n=2).to_json())
    assert report["envelope"] == same
    refuses(command("run", path, "--input", f"x={x}", "--envelope", 2,
                    "--values", "off"), USAGE, "--envelope needs values")
