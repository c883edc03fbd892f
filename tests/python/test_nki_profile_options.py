"""kernel.profile has the options of a launch, or refuses them; limits of a
launch."""

from __future__ import annotations

import numpy as np
import pytest
from nki_edges import plus, ramp, refused

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


@nki.jit
def log(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.log(nl.load(x)))
    return out


SPEC = nki.TensorSpec((4, 4), "float32")


def test_a_profile_saves_and_summarizes_as_a_launch_does(tmp_path, capsys):
    x = ramp(4, 4)
    report = plus.with_options(save=tmp_path, summary=True).profile(x)
    said = capsys.readouterr().err
    assert said == (
        f"saved: trnemu run {tmp_path}/plus.trn --input "
        f"x={tmp_path}/plus.x.npy\nplus:\n{report.result.summary()}\n"
    )
    np.testing.assert_array_equal(np.load(tmp_path / "plus.x.npy"), x)
    assert plus.with_options().profile(x).time_ns == report.time_ns


def test_a_profile_without_values_saves_what_needs_none(tmp_path, capsys):
    plus.with_options(save=tmp_path).profile(SPEC)
    assert capsys.readouterr().err == (
        f"saved: trnemu profile {tmp_path}/plus.trn --values off\n"
    )
    assert [f.name for f in tmp_path.iterdir()] == ["plus.trn"]


def test_a_profile_warns_of_what_a_launch_warns_of():
    x = ramp(4, 4) - 2
    with pytest.warns(nki.KernelWarning, match="outside_valid_range") as found:
        report = log.profile(x)
    assert found[0].filename == __file__
    assert log.result is report.result
    assert refused(log.with_options(strict=True).profile, x).id == (
        "activation.outside_valid_range"
    )


def test_a_profile_stops_at_a_nan():
    kernel = log.with_options(stop_at_nan=True, allow=(
        "activation.outside_valid_range",))
    assert refused(kernel.profile, ramp(4, 4) - 2).id == "nan.produced"


@pytest.mark.parametrize("option, said", [
    ({"schedule": 3}, "schedule is 3"), ({"time": False}, "time is off"),
    ({"schedule": "program"}, "schedule is 'program'"),
    ({"precise_fp": False}, "with precise_fp off"),
])
def test_options_that_a_profile_does_not_have_are_refused(option, said):
    with pytest.raises(ValueError, match=f"^plus.profile: .* and {said}"):
        plus.with_options(**option).profile(ramp(4, 4))
    plus.with_options(schedule="timed").profile(ramp(4, 4))


def test_a_profile_without_values_has_no_stop_at_nan():
    with pytest.raises(ValueError, match="stop_at_nan=True needs values"):
        plus.with_options(stop_at_nan=True).profile(SPEC)


@nki.jit
def endless(x):
    tile, register = nl.load(x), nisa.register_alloc(1)
    while register:
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    return x


def test_a_launch_has_a_limit_of_the_host_s_time():
    x = ramp(2, 2)
    kernel = endless.with_options(max_wall_time=0.01)
    assert refused(kernel, x).id == "limit.wall_time"
    assert refused(kernel.profile, x).id == "limit.wall_time"
    with pytest.raises(TypeError, match="max_wall_time must be a number"):
        endless.with_options(max_wall_time="1")(x)
    with pytest.raises(trnemu.Fault, match="must not be negative"):
        endless.with_options(max_wall_time=-1)(x)
