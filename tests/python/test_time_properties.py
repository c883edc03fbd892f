"""What must hold of simulated time whatever the constants are.

One resource at a time: the limit of the tensor engine is off, and no server is
shared, unless the test is about it.
"""

import itertools
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trnemu

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench" / "calibration"))
import row_probes as p  # noqa: E402

F, H = "float32", "bfloat16"
SIZES = [1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 256, 333, 512]

GROWING = {
    "copy": lambda n: p.copy(n, F, F, "vector"),
    "copy_bf16": lambda n: p.copy(n, H, H, "vector"),
    "copy_act": lambda n: p.copy(n, F, F, "scalar"),
    "copy_pool": lambda n: p.copy(n, F, F, "gpsimd"),
    "copy_psum": lambda n: p.copy(n, F, F, "vector", "psum"),
    "exp": lambda n: p.activate("exp", n),
    "square": lambda n: p.activate("square", n),
    "binary": lambda n: p.binary(n, (F, F, F)),
    "scalar": p.scalar,
    "reduce": p.reduce,
    "reciprocal": p.reciprocal,
    "scan": p.scan,
    "memset": p.memset,
    "predicated": p.predicated,
    "affine_select": p.affine_select,
    "iota": p.iota,
    "matmul": p.matmul,
    "matmul_bf16": lambda n: p.matmul(n, H),
    "transpose": lambda n: p.matmul(min(n, 128), k=min(n, 128), transpose=True),
    "load": lambda n: p.dma(4 * n),
    "store": lambda n: p.dma(4 * n, store=True),
    "load_rows": lambda n: p.dma(128, rows=n),
    "load_software": lambda n: p.dma(4 * n, dge_mode="swdge"),
}


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
@pytest.mark.parametrize("name", list(GROWING))
def test_more_data_never_takes_less_time(name, target):
    probe = GROWING[name]
    for times in (1, 3):
        series = [
            p.time_of(target, p.repeated(probe(n), times), throttle=False)
            for n in SIZES
        ]
        assert series == sorted(series), dict(zip(SIZES, series))


@pytest.mark.parametrize("store", [False, True])
def test_longer_rows_of_a_transfer_never_take_less_time(store):
    rows = [*range(4, 8192, 148), 8192, 16384, 32768]
    series = [p.dma_time("trn2", p.dma(r, store=store)) for r in rows]
    assert series == sorted(series)


def test_the_number_of_partitions_does_not_matter_to_an_instruction():
    def on(partitions):
        def make(b):
            x = p.tile(b, 512, partitions=partitions)
            y = p.tile(b, 512, partitions=partitions)
            return lambda: b.tensor_copy(dst=y, src=x, engine="vector")

        return p.completion("trn2", make)

    assert len({on(q) for q in (1, 4, 32, 33, 64, 128)}) == 1


ENGINES = ("vector", "scalar", "gpsimd")


def _chain(edges, sizes, engines):
    """One copy after another, each on tiles of its own; edges wait."""

    def emit(b):
        signals = {j: b.semaphore() for _, j in edges}
        for k, (n, engine) in enumerate(zip(sizes, engines)):
            x, y = p.tile(b, n), p.tile(b, n)
            waits = [i for i, j in edges if j == k]
            to = [signals[j] for i, j in edges if i == k]
            b.tensor_copy(
                dst=y, src=x, engine=engine,
                wait=[(signals[k], len(waits))] if waits else [],
                signal=[(s, 1) for s in to])

    return p.time_of("trn2", emit)


@pytest.mark.parametrize("seed", range(40))
def test_a_dependency_never_makes_a_program_faster(seed):
    rng = random.Random(seed)
    count = rng.randrange(4, 12)
    sizes = [rng.randrange(1, 1500) for _ in range(count)]
    engines = [rng.choice(ENGINES) for _ in range(count)]
    pairs = [e for e in itertools.combinations(range(count), 2)
             if engines[e[0]] != engines[e[1]]]
    rng.shuffle(pairs)
    edges: list[tuple[int, int]] = []
    before = _chain(edges, sizes, engines)
    for edge in pairs[:6]:
        edges.append(edge)
        after = _chain(edges, sizes, engines)
        assert after >= before, (seed, edges)
        before = after


# The documented anomaly: what keeps the tensor engine busy lifts its limit
# (tools/neuron-explorer/overview-summary-page.rst).


def _burst(warm):
    def emit(b):
        w, x = p.tile(b, 128, H), p.tile(b, 512, H)
        y, z = p.tile(b, 512, F, "psum"), p.tile(b, 512, F, "psum")
        go, t = b.semaphore(), p.tile(b, 6000)
        for _ in range(warm):
            b.nc_matmul(dst=z, stationary=w, moving=x, accumulate=False)
        # 3285 ns, while the tensor engine could warm up.
        b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0,
                        engine="vector", signal=[(go, 1)])
        for k in range(8):
            b.nc_matmul(dst=y, stationary=w, moving=x, accumulate=False,
                        wait=[(go, 1)] if k == 0 else [])

    return emit


def test_with_the_limit_on_a_program_that_does_more_can_be_faster():
    # 11 products keep the engine busy nearly until the burst, which then does
    # without its own four of 430 instead of 217 ns.
    assert p.time_of("trn2", _burst(11)) < p.time_of("trn2", _burst(0)) - 800


def test_with_the_limit_off_it_is_not():
    more = p.time_of("trn2", _burst(11), throttle=False)
    assert more >= p.time_of("trn2", _burst(0), throttle=False)


def test_half_of_the_rows_take_twice_as_long_with_the_limit_on():
    """spec/timing.md 1.4, fp32 K = 64, M = 512: 1707 ns, and 860 at K = 128."""
    half = p.interval("trn2", p.matmul(512, k=64), first=64)
    whole = p.interval("trn2", p.matmul(512), first=64)
    assert half == pytest.approx(1707, rel=0.05)
    assert whole == pytest.approx(860, rel=0.05)
    for k in (64, 128):
        free = p.interval("trn2", p.matmul(512, k=k), first=64, throttle=False)
        assert free == pytest.approx(whole)


def test_tiles_of_the_array_run_side_by_side():
    """Four row tiles of 32 (nki/api/nki/isa/__init__.py:513): each may start
    64 cycles after the one before, and all take their 512 rows at once."""

    def tiles(positions):
        def emit(b):
            w, x = p.tile(b, 128, H), p.tile(b, 512, H)
            for q in positions:
                y = p.tile(b, 512, F, "psum")
                b.nc_matmul(dst=y, stationary=w[q:q + 32, :],
                            moving=x[q:q + 32, :], tile_position=(q, 0),
                            tile_size=(32, 128), accumulate=False)

        return p.time_of("trn2", emit, throttle=False)

    one = tiles([0])
    assert tiles([0, 32, 64, 96]) - one < 3 * 70
    assert tiles([0, 0, 0, 0]) - one > 3 * 210


def _side_by_side(target, engines, where=("sbuf", "sbuf"), bank=(0, 0)):
    def emit(b):
        for engine, space, k in zip(engines, where, bank):
            if space == "psum":
                x = b.psum((128, 512), F, address=(0, 2048 * k))
            else:
                x = p.tile(b, 512)
            b.tensor_copy(dst=p.tile(b, 512), src=x, engine=engine)

    return p.time_of(target, emit)


def test_vector_and_gpsimd_share_a_port_of_sbuf_on_trn1_only():
    """nki/guides/architecture/trainium2_arch.rst:268."""
    for target, shared in (("trn1", True), ("trn2", False), ("trn3", False)):
        alone = max(_side_by_side(target, [e]) for e in ("vector", "gpsimd"))
        both = _side_by_side(target, ["vector", "gpsimd"])
        assert (both > alone + 200) == shared, target


def test_vector_and_scalar_meet_in_psum_on_trn1_and_in_a_bank_later():
    psum = ("psum", "psum")
    for target, banks, meet in (("trn1", (0, 1), True), ("trn2", (0, 1), False),
                                ("trn2", (3, 3), True), ("trn3", (3, 3), True),
                                ("trn3", (3, 4), False)):
        alone = max(_side_by_side(target, [e], ["psum"])
                    for e in ("vector", "scalar"))
        both = _side_by_side(target, ["vector", "scalar"], psum, banks)
        assert (both > alone + 200) == meet, (target, banks)


def test_a_short_transfer_of_another_queue_overtakes_a_long_one():
    def emit(also):
        def to(b):
            long = b.scratch("long", (8, 32768), F)
            short = b.scratch("short", (8, 128), F)
            seen = b.semaphore()
            b.dma_copy(dst=b.sbuf((8, 32768), F), src=long, trigger="sync")
            b.dma_copy(dst=b.sbuf((8, 128), F), src=short, trigger=also,
                       signal=[(seen, 1)])
            t = p.tile(b, 60000 // 4)
            b.tensor_copy(dst=t, src=t, engine="vector", wait=[(seen, 16)])
            b.tensor_copy(dst=t, src=t, engine="vector")

        return p.time_of("trn2", to)

    # 1 MiB on one engine takes 39 us, and the copies 16 after the short one.
    assert emit("scalar") + 10_000 < emit("sync")


# ---- options


def test_the_launch_overhead_is_added_once():
    make = p.repeated(p.copy(512, F, F, "vector"), 2)
    plain = p.time_of("trn2", make)
    assert p.time_of("trn2", make, launch_overhead=True) == plain + 9400


@pytest.mark.parametrize("option", [{"launch_overhead": True},
                                    {"throttle": False}])
def test_options_of_time_need_simulated_time(option):
    built = p.program("trn2", p.repeated(p.copy(8, F, F, "vector"), 1))
    with pytest.raises(trnemu.Fault, match="simulated time") as info:
        trnemu.run(built, {}, values=False, schedule="program", **option)
    assert info.value.id == "option." + next(iter(option))


# ---- activation tables


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
@pytest.mark.parametrize("functions, loads", [
    (["exp", "log"] * 4, 1),  # a set is called natural_log_exp_and_others
    (["exp", "reciprocal"] * 4, 8),  # reciprocal_and_small is another
    (["exp", "copy", "exp", "square", "log"], 1),
])
def test_a_table_is_loaded_when_the_next_function_is_not_in_it(
        target, functions, loads):
    b = trnemu.ProgramBuilder(target=target, name="k", sync="explicit")
    x, y = b.sbuf((128, 8), F), b.sbuf((128, 8), F)
    for function in functions:
        b.activation(dst=y, op=function, data=x)
    found = trnemu.profile(b.build()).summary
    assert found["act_table_load_count"] == loads
    assert found["act_table_load_time"] == pytest.approx(
        loads * p.table_load(target) * 1e-9)


# ---- what if


def _command():
    return os.environ.get("TRNEMU_BIN", "trnemu")


def _time(program, folder, changes=(), *options):
    """Of a program on trn2 with constants replaced: (block.field, factor)."""
    text = (ROOT / "isa/hardware/trn2.textproto").read_text()
    for name, factor in changes:
        pattern = re.compile(r"(\n +" + name + r" \{ value: )([\d.]+)")
        assert len(pattern.findall(text)) == 1, name
        text = pattern.sub(
            lambda m, f=factor: f"{m[1]}{float(m[2]) * f:.10g}", text)
    hardware = folder / "h.textproto"
    hardware.write_text(text)
    path = folder / "p.trn"
    program.save(str(path))
    out = subprocess.run(
        [_command(), "run", path, "--values", "off", "--hardware", hardware,
         "--json", *options], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)["time_ns"]


def _loads(cores, count=24):
    b = trnemu.ProgramBuilder(target="trn2", name="loads", cores=cores,
                              sync="explicit")
    for c in range(cores):
        x = b.scratch(f"x{c}", (128, 8192), F)
        with b.core(c):
            t = b.sbuf((128, 8192), F)
            for _ in range(count):
                b.dma_copy(dst=t, src=x)
    return b.build()


def _products(count=200):
    b = trnemu.ProgramBuilder(target="trn2", name="products", sync="explicit")
    w, x = b.sbuf((128, 128), H), b.sbuf((128, 512), H)
    y = b.psum((128, 512), F)
    for _ in range(count):
        b.nc_matmul(dst=y, stationary=w, moving=x, accumulate=False)
    return b.build()


TWICE_HBM = [("hbm_bandwidth", 2)]


def test_two_cores_of_a_stack_share_its_bandwidth(tmp_path):
    """One core's engines move 16 x 27.2 = 435 B/ns at most; two ask for 870 of
    the stack's 3000 / 4 = 750."""
    one, two = (_time(_loads(c), tmp_path) for c in (1, 2))
    assert 1.1 < two / one < 870 / 750 + 0.02
    # With more bandwidth than both can use it is their engines that limit.
    assert _time(_loads(2), tmp_path, TWICE_HBM) == pytest.approx(one, rel=0.02)


def test_twice_the_bandwidth_of_hbm_speeds_what_hbm_limits(tmp_path):
    """At a quarter, 187.5 B/ns a stack limit even one core: twice that halves
    the time of its transfers."""
    slow = _time(_loads(1, 80), tmp_path, [("hbm_bandwidth", 0.25)])
    fast = _time(_loads(1, 80), tmp_path, [("hbm_bandwidth", 0.5)])
    assert slow / fast == pytest.approx(2, rel=0.02)
    # 128 x 32 KiB x 80 at 187.5 B/ns, and what is around it.
    assert slow == pytest.approx(128 * 32768 * 80 / 187.5, rel=0.01)


def test_twice_the_rate_of_the_engines_speeds_what_they_limit(tmp_path):
    before = _time(_loads(1, 80), tmp_path)
    after = _time(_loads(1, 80), tmp_path, [("rate", 2), ("hbm_bandwidth", 2)])
    assert 1.9 < before / after < 2


@pytest.mark.parametrize("constant", ["hbm_bandwidth", "rate"])
def test_a_program_of_products_gains_nothing_from_memory(constant, tmp_path):
    program = _products()
    assert (_time(program, tmp_path, [(constant, 2)])
            == _time(program, tmp_path))


def _copies_within_hbm(count):
    b = trnemu.ProgramBuilder(target="trn2", name="copies", sync="explicit")
    x, y = b.scratch("x", (128, 8192), F), b.scratch("y", (128, 8192), F)
    for _ in range(count):
        b.dma_copy(dst=y, src=x)
    return b.build()


HBM, RATE = ("hbm_bandwidth", 2), ("rate", 2)
WHAT_IF = {
    "loads on one core": _loads(1, 80),
    "loads on two cores, 80 each": _loads(2, 80),
    "copies within HBM, one core": _copies_within_hbm(80),
    "products, one core": _products(),
}


def test_the_page_says_what_each_change_gains(tmp_path):
    """The table of docs/what-if.md, each cell simulated again."""
    page = (ROOT / "docs/what-if.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]*) ((?:\| [\d.]+ ){4})\|$", page, re.M))
    assert rows.keys() == WHAT_IF.keys()
    for name, program in WHAT_IF.items():
        got = [_time(program, tmp_path, changes) / 1000
               for changes in ([], [HBM], [RATE], [HBM, RATE])]
        said = [float(n) for n in re.findall(r"[\d.]+", rows[name])]
        assert [round(n, 1) for n in got] == said, name


def test_the_gains_are_those_of_the_bandwidths(tmp_path):
    """A row of 32 KiB on an engine: 8 packets of 2.5 ns and its bytes at the
    least of the rate and the share of 3000 / 4 B/ns, in 8 rows a part."""
    def us(rate, hbm, shares=1):
        share = hbm / 4 / 16 / shares
        return 80 * 8 * (8 * 2.5 + 32768 / min(rate, share)) / 1000

    for name, shares in (("loads on one core", 1),
                         ("loads on two cores, 80 each", 2),
                         ("copies within HBM, one core", 2)):
        for changes, rate, hbm in (([], 27.2, 3000), ([HBM], 27.2, 6000),
                                   ([RATE], 54.4, 3000),
                                   ([HBM, RATE], 54.4, 6000)):
            got = _time(WHAT_IF[name], tmp_path, changes) / 1000
            # The first transfer of core 1 gets what that of core 0 leaves of the
            # stack, a quarter at least: 8 rows that move slower.
            late = 0
            if name.startswith("loads on two cores"):
                stack = hbm / 4
                left = max(stack / 4, stack - 16 * rate)
                late = 8 * 32768 * (16 / left - max(1 / rate, 32 / stack)) / 1e3
                late = max(0, late)
            # What is around the stream: 751 + 293 + 314.5 ns at most.
            assert 0 < got - us(rate, hbm, shares) < 1.5 + late, (name, changes)
            assert late < 12


def test_the_limit_of_the_tensor_engine_can_be_taken_out(tmp_path):
    program = _products()
    off = _time(program, tmp_path, (), "--throttle", "off")
    assert off == _time(program, tmp_path, [("throttled_rate", 2)])
    # Four products of 430 ns instead of 217 until 1.5 us were busy.
    assert off == pytest.approx(_time(program, tmp_path) - 4 * 213.3, abs=2)


def test_the_command_adds_the_launch_overhead(tmp_path):
    program = _products(4)
    plain = _time(program, tmp_path)
    assert _time(program, tmp_path, (), "--launch-overhead") == pytest.approx(
        plain + 9400)


def test_time_is_a_number_of_the_model_alone():
    """Values and their checks take no simulated time."""
    b = trnemu.ProgramBuilder(target="trn2", name="k")
    x, y = b.input("x", (128, 512), F), b.output("y", (128, 512), F)
    t = b.sbuf((128, 512), F)
    b.dma_copy(dst=t, src=x)
    b.activation(dst=t, op="exp", data=t)
    b.dma_copy(dst=y, src=t)
    built = b.build()
    data = {"x": np.zeros((128, 512), np.float32)}
    assert (trnemu.run(built, data).time_ns
            == trnemu.run(built, data, values=False).time_ns)
