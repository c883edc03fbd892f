"""What no profile may say, whatever ran: more than 100 % of an engine, of a
stack's bandwidth or of the array's peak, a time that is not a run's; and what
hardware descriptions may not lead to."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import pytest

import trnemu
from cli_kit import FAULT, SUCCESS, USAGE
from cli_kit import trnemu as command

F, H = "float32", "bfloat16"
TRN2 = pathlib.Path(__file__).parents[2] / "isa/hardware/trn2.textproto"


def loads(triggers, count, elements=4096):
    """Transfers of (128, elements) of fp32 from each of the triggers, each
    sequencer's in a queue set of its own: they share the 16 engines."""
    b = trnemu.ProgramBuilder(name="loads")
    x = b.input("x", (128, elements), F)
    for trigger in triggers:
        for _ in range(count):
            t = b.sbuf((128, elements), F)
            b.dma_copy(dst=t, src=x, trigger=trigger)
    return b.build()


def multiplications(target, dtype, **options):
    b = trnemu.ProgramBuilder(target=target, name="products", sync="explicit")
    w, x = b.sbuf((128, 128), dtype), b.sbuf((128, 512), dtype)
    y = b.psum((128, 512), F)
    b.memset(dst=w, value=0.0)
    b.memset(dst=x, value=0.0)
    for _ in range(300):
        b.nc_matmul(dst=y, stationary=w, moving=x, accumulate=False, **options)
    return b.build()


def transposes(target, dtype):
    b = trnemu.ProgramBuilder(target=target, name="transposes",
                              sync="explicit")
    x, y = b.sbuf((128, 128), dtype), b.psum((128, 128), dtype)
    b.memset(dst=x, value=0.0)
    for _ in range(300):
        b.nc_transpose(dst=y, data=x, engine="tensor")
    return b.build()


def one_memset():
    b = trnemu.ProgramBuilder(name="one")
    b.memset(dst=b.sbuf((128, 8), F), value=0.0)
    return b.build()


def late_core(first=50_000, second=43_000):
    """Both cores read HBM; core 1 starts a moment later."""
    b = trnemu.ProgramBuilder(name="late", cores=2)
    for core, elements in enumerate((first, second)):
        x = b.scratch(f"x{core}", (128, elements), F)
        with b.core(core):
            t = b.sbuf((128, elements), F)
            if core:
                b.memset(dst=t[:, :1000], value=0.0)
            b.dma_copy(dst=t, src=x)
    return b.build()


def late_copy():
    """The same of copies within HBM, twice the traffic."""
    b = trnemu.ProgramBuilder(name="late", cores=2)
    for core in range(2):
        x = b.scratch(f"x{core}", (128, 50_000), F)
        y = b.scratch(f"y{core}", (128, 50_000), F)
        with b.core(core):
            for i in range(4):
                b.dma_copy(dst=y[32 * i:32 * i + 32],
                           src=x[32 * i:32 * i + 32])
    return b.build()


PROGRAMS = {
    "two queues of an engine": lambda: loads(("sync", "scalar"), 4),
    "five queues of an engine": lambda: loads(
        ("sync", "scalar", "gpsimd", "vector", "tensor"), 4, 2048),
    "a memset that completes before its interval": one_memset,
    "a core that reads HBM beside another": late_core,
    "copies within HBM of both cores": late_copy,
    "onezero": lambda: multiplications("trn2", F, is_stationary_onezero=True),
    "onezero, moving": lambda: multiplications("trn1", F,
                                               is_moving_onezero=True),
    "fp32": lambda: multiplications("trn2", F),
    "fp8": lambda: multiplications("trn2", "float8_e4m3"),
    "transposes, trn1": lambda: transposes("trn1", F),
    "transposes, trn2": lambda: transposes("trn2", F),
    "transposes, trn3": lambda: transposes("trn3", F),
    "transposes in bf16, trn3": lambda: transposes("trn3", H),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def built(request):
    return PROGRAMS[request.param]()


@pytest.fixture(scope="module")
def profile(built):
    return trnemu.profile(built, throttle=False)


def test_no_share_is_above_one(profile):
    shares = {m["name"]: m["value"] for m in profile.data["summary"]
              if m["unit"] == "ratio"}
    assert len(shares) > 10
    over = {n: v for n, v in shares.items() if not 0 <= v <= 1 + 1e-12}
    assert not over
    for engine in profile.data["engines"]:
        assert engine["active_percent"] <= 100 + 1e-9, engine
        # The tensor engine loads beside what it multiplies (docs/time.md).
        if engine["engine"] != "tensor":
            assert engine["busy_ns"] <= profile.time_ns * (1 + 1e-9), engine


def test_run_and_profile_agree(built, profile):
    run = trnemu.run(built, {}, values=False, throttle=False)
    assert run.time_ns == profile.time_ns
    for name, engine in run.profile.engines.items():
        mine = sum(e["busy_ns"] for e in profile.data["engines"]
                   if e["engine"] == name)
        # A run has the sum of the 16 DMA engines.
        parts = 16 if name == "dma" else 1
        assert parts * mine == pytest.approx(engine.busy_ns), name


def test_the_hbm_counter_holds_the_bytes_and_no_more_than_there_is(profile):
    """Its integral is what was moved; its rate at most that of the stack, and
    of a core's engines 16 x 27.2 (trn1: 18.1, trn3: 38.4)."""
    data = profile.data
    times = np.array(data["counters"]["hbm_bandwidth"]["t"])
    rates = np.array(data["counters"]["hbm_bandwidth"]["v"])
    moved = profile.summary["hbm_read_bytes"] + profile.summary[
        "hbm_write_bytes"]
    if not moved:
        return
    assert rates[-1] == 0
    assert rates.min() >= 0
    assert (rates[:-1] * np.diff(times)).sum() == pytest.approx(moved)
    engine = {"trn1": 18.1, "trn2": 27.2, "trn3": 38.4}[data["target"]]
    sides = 2 if set(profile.dma["direction"]) == {"hbm"} else 1
    assert rates.max() <= sides * 16 * engine * data["cores"] * (1 + 1e-9)
    assert rates.max() <= data["hardware"]["hbm_bytes_per_ns"] * (1 + 1e-9)


def test_a_part_has_its_engine_from_its_start_until_it_is_free(profile):
    """Each engine's own time for its parts fits into when it has any, and a
    queue's parts come one after the other."""
    d = profile.dma
    assert (d["start"] >= d["payload_from"] - 1e-6).all()
    assert (d["busy"] <= d["free"] - d["start"] + 1e-6).all()
    assert (d["free"] <= d["end"] + 1e-6).all()
    assert (d["end"] <= d["notify"] + 1e-6).all()
    for core, engine in set(zip(d["core"], d["engine"], strict=True)):
        rows = (d["core"] == core) & (d["engine"] == engine)
        at, covered = 0.0, 0.0
        for start, free in sorted(zip(d["start"][rows], d["free"][rows],
                                      strict=True)):
            covered += max(0.0, free - max(at, start))
            at = max(at, free)
        assert d["busy"][rows].sum() == pytest.approx(covered, abs=1e-3)
    for queue in set(zip(d["queue_set"], d["queue"], strict=True)):
        rows = (d["queue_set"] == queue[0]) & (d["queue"] == queue[1])
        starts, frees = d["start"][rows], d["free"][rows]
        assert (starts[1:] >= frees[:-1] - 1e-6).all()


def test_the_time_ends_with_the_last_completion_and_the_path_joins_up(profile):
    rows, path = profile.instructions, profile.critical_path
    last = max(rows["end"].max(), max(profile.dma["notify"], default=0))
    assert profile.time_ns == pytest.approx(last)
    # An interval that is longer than its completion is over with the run.
    assert rows["issue_end"].max() <= profile.time_ns
    assert sum(p["to"] - p["from"] for p in path) == pytest.approx(
        profile.time_ns)


def test_the_flops_of_a_hint_and_of_a_transpose_count_by_their_time():
    """fp32 is two passes of two cycles a row, four times bf16; hinted to be 0
    or 1, one cycle each; a transpose on trn2 one pass of two cycles."""
    def factor(program):
        s = trnemu.profile(program).summary
        return s["adjusted_hardware_flops"] / s["hardware_flops"]

    assert factor(PROGRAMS["fp32"]()) == 4
    assert factor(PROGRAMS["onezero"]()) == pytest.approx(2)
    assert factor(PROGRAMS["onezero, moving"]()) == pytest.approx(2)
    assert factor(PROGRAMS["transposes, trn2"]()) == pytest.approx(2)
    assert factor(PROGRAMS["transposes, trn3"]()) == pytest.approx(1)


# ---- descriptions that ask too much


def described(folder, pattern, value, count=1):
    text = TRN2.read_text()
    text, n = re.subn(r"(\n +" + pattern + r" \{ value: )[\d.e+-]+",
                      rf"\g<1>{value}", text, count=count)
    assert n == count, pattern
    path = folder / "h.textproto"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("p") / "k.trn"
    b = trnemu.ProgramBuilder(name="k")
    x, y = b.input("x", (128, 512), F), b.output("y", (128, 512), F)
    t = b.sbuf((128, 512), F)
    b.dma_copy(dst=t, src=x)
    b.activation(dst=t, op="exp", data=t)
    b.dma_copy(dst=y, src=t)
    b.build().save(str(path))
    return path


@pytest.mark.parametrize(("name", "value"), [
    ("payload_per_byte", "1e13"), ("rate", "1e-300"),
    ("hbm_bandwidth", "1e-300"),
])
def test_a_time_that_no_integer_holds_is_a_fault(name, value, saved, tmp_path):
    hardware = described(tmp_path, name, value)
    for verb in (["run"], ["profile"]):
        out = command(*verb, saved, "--values", "off", "--hardware", hardware,
                      "--json")
        assert out.returncode == FAULT, (name, out.stdout[:300])
        assert json.loads(out.stdout)["fault"]["id"] == (
            "limit.simulated_time")


@pytest.mark.parametrize(("name", "value", "most"), [
    ("hand_off", "1e13", "1e+11 ns"), ("trigger", "2e11", "1e+11 ns"),
    ("per_descriptor", "1e15", "1e+11 ns"), ("notify", "9e15", "1e+11 ns"),
    ("spacing", "9e15", "1e+11 ns"), ("minimum_issue", "1e9", "1e+08 cycles"),
    ("clock", "1e-300", "at least 0.001 GHz"),
])
def test_a_constant_that_is_too_long_is_refused(name, value, most, saved,
                                                tmp_path):
    hardware = described(tmp_path, name, value)
    done = command("run", saved, "--values", "off", "--hardware", hardware)
    assert done.returncode == USAGE
    assert most in done.stderr


def test_a_constant_without_effect_is_called_that(saved, tmp_path):
    for name, says in (
            ("peak_rate", "rate and short_row_rate are what an engine moves"),
            ("hbm_bandwidth_per_core",
             "hbm_bandwidth / hbm_stacks is what cores share")):
        hardware = described(tmp_path, name, "1000")
        out = command("run", saved, "--values", "off", "--hardware", hardware)
        assert out.returncode == SUCCESS
        assert f"(has no effect: {says})" in out.stdout
    out = command("run", saved, "--values", "off", "--hardware",
                  described(tmp_path, "hbm_bandwidth", "1000"))
    assert "hbm_bandwidth 3000 -> 1000 B/ns\n" in out.stdout
