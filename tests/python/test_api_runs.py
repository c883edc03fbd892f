"""Runs: inputs and outputs, options, devices."""

from __future__ import annotations

import threading

import ml_dtypes
import numpy as np
import pytest

import trnemu
from sample_programs import ONES, build_double


def test_a_program_runs_and_gives_values_time_profile_and_summary():
    r = trnemu.run(build_double(), {"x": ONES})
    np.testing.assert_array_equal(r.outputs["y"], 2 * ONES)
    assert isinstance(r.time_ns, float) and r.time_ns > 0
    assert r.target == "trn2"
    assert r.diagnostics == [] and r.allowed == []
    assert r.profile.time_ns == r.time_ns
    assert r.profile.engines["vector"].instructions == 1
    assert r.profile["engines"]["sync"]["instructions"] == 2
    assert "trn2" in r.summary().splitlines()[0]


def test_the_same_run_twice_gives_the_same_bits_and_the_same_time():
    p = build_double()
    a, b = (trnemu.run(p, {"x": ONES}) for _ in range(2))
    assert a.time_ns == b.time_ns
    assert a.outputs["y"].tobytes() == b.outputs["y"].tobytes()


@pytest.mark.parametrize("schedule", ["timed", "program", 0, 1, 12345])
def test_every_schedule_gives_the_same_values(schedule):
    r = trnemu.run(build_double(), {"x": ONES}, schedule=schedule)
    np.testing.assert_array_equal(r.outputs["y"], 2 * ONES)


def test_time_off_runs_in_program_order_and_gives_no_time():
    r = trnemu.run(build_double(), {"x": ONES}, time=False)
    assert r.time_ns == 0.0
    np.testing.assert_array_equal(r.outputs["y"], 2 * ONES)


def test_values_off_gives_time_and_no_outputs():
    r = trnemu.run(build_double(), {"x": ONES}, values=False)
    assert r.outputs == {} and r.time_ns > 0


def test_outputs_are_writable_and_outlive_the_result():
    y = trnemu.run(build_double(), {"x": ONES}).outputs["y"]
    y += 1
    assert y.sum() == 3 * 64 * 32


def build_copy(dtype: str) -> trnemu.Program:
    """y = x of a (4, 8) tensor, through SBUF."""
    b = trnemu.ProgramBuilder(name="copy")
    x = b.input("x", (4, 8), dtype)
    y = b.output("y", (4, 8), dtype)
    t = b.sbuf((4, 8), dtype)
    b.dma_copy(dst=t, src=x)
    b.dma_copy(dst=y, src=t)
    return b.build()


CARRIERS = {
    "tfloat32": np.float32,
    "float8_e5m2_x4": np.uint32,
    "float8_e4m3fn_x4": np.uint32,
    "float4_e2m1fn_x4": np.uint16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3": ml_dtypes.float8_e4m3,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "float16": np.float16,
    "float32": np.float32,
    "bool": np.bool_,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "int32": np.int32,
    "uint32": np.uint32,
}


@pytest.mark.parametrize("dtype", CARRIERS)
def test_every_dtype_travels_in_its_numpy_carrier_bit_for_bit(dtype):
    carrier = np.dtype(CARRIERS[dtype])
    rng = np.random.default_rng(1)
    if dtype == "bool":
        bits = rng.integers(0, 2, (4, 8)).astype(bool)
    else:
        bits = rng.integers(0, 256, 32 * carrier.itemsize, dtype=np.uint8)
        bits = bits.view(carrier).reshape(4, 8)
    p = build_copy(dtype)
    assert p.inputs["x"] == ((4, 8), dtype)
    assert p.inputs["x"][1].numpy == carrier
    y = trnemu.run(p, {"x": bits}).outputs["y"]
    assert y.dtype == carrier and y.shape == (4, 8)
    assert y.tobytes() == bits.tobytes()


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("float32", "float32"), (np.float32, "float32"), (np.bool_, "bool"),
     ("bool_", "bool"), (np.dtype("int8"), "int8"), (bool, "bool"),
     (ml_dtypes.float8_e4m3fn, "float8_e4m3fn")],
)
def test_dtypes_are_names_or_numpy_types(spelling, name):
    x = trnemu.ProgramBuilder().input("x", (4, 8), spelling)
    assert str(x.dtype) == name


@pytest.mark.parametrize("name", ["Float32", "fp32", "float64", "f32", ""])
def test_an_unknown_dtype_is_a_fault(name):
    with pytest.raises(trnemu.Fault) as info:
        trnemu.ProgramBuilder().input("x", (4, 8), name)
    assert info.value.category == "illegal"


@pytest.mark.parametrize("thing", [3, None, [1], object])
def test_what_is_no_dtype_at_all_is_a_type_error(thing):
    with pytest.raises(TypeError):
        trnemu.ProgramBuilder().input("x", (4, 8), thing)


@pytest.mark.parametrize(
    "array",
    [ONES.astype(np.float64), ONES.astype(ml_dtypes.bfloat16),
     ONES.astype(np.int32), ONES.astype(">f4"), ONES.astype(np.complex64)],
    ids=lambda a: a.dtype.str,
)
def test_an_input_of_another_dtype_is_refused_not_cast(array):
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(build_double(), {"x": array})
    assert info.value.category == "input"
    assert "x" in info.value.message and "float32" in info.value.message
    assert array.dtype.name in info.value.message


def test_an_input_of_another_shape_is_refused():
    with pytest.raises(trnemu.Fault, match="x") as info:
        trnemu.run(build_double(), {"x": ONES.T})
    assert info.value.category == "input"
    assert "(64, 32)" in info.value.message
    assert "(32, 64)" in info.value.message


def test_an_input_that_is_no_array_is_a_type_error():
    for value in ([[1.0]], 1.0, None):
        with pytest.raises(TypeError, match="'x' must be a numpy.ndarray"):
            trnemu.run(build_double(), {"x": value})


def test_missing_and_surplus_inputs_are_faults_that_name_them():
    p = build_double()
    with pytest.raises(trnemu.Fault, match="x") as info:
        trnemu.run(p, {})
    assert info.value.category == "input"
    for extra in (ONES, ONES.astype(np.float64)):
        with pytest.raises(trnemu.Fault, match='"xx".*"x"') as info:
            trnemu.run(p, {"x": ONES, "xx": extra})
        assert info.value.category == "input"


def test_a_fault_of_category_input_is_a_value_error_too():
    with pytest.raises(ValueError):
        trnemu.run(build_double(), {})


def test_strided_and_read_only_inputs_are_taken_as_they_are():
    base = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    x = base[:, ::2]
    base.flags.writeable = False
    r = trnemu.run(build_double(), {"x": x})
    np.testing.assert_array_equal(r.outputs["y"], 2 * x)


def test_a_constant_is_part_of_the_program():
    b = trnemu.ProgramBuilder()
    values = np.arange(32, dtype=ml_dtypes.bfloat16).reshape(4, 8)
    c = b.constant("c", values.T.copy().T)
    y = b.output("y", (4, 8), "bfloat16")
    b.dma_copy(dst=y, src=c)
    p = trnemu.Program.from_text(b.build().to_text())
    np.testing.assert_array_equal(trnemu.run(p, {}).outputs["y"], values)


def test_a_constant_of_a_carried_dtype_needs_the_carrier():
    b = trnemu.ProgramBuilder()
    c = b.constant("c", np.ones((4, 8), np.float32), "tfloat32")
    assert c.dtype == "tfloat32"
    with pytest.raises(trnemu.Fault, match="uint32"):
        b.constant("d", np.ones((4, 8), np.float32), "float8_e5m2_x4")
    with pytest.raises(TypeError):
        b.constant("e", [[1.0]])


def test_unknown_numerics_keys_are_a_fault_that_names_them():
    with pytest.raises(trnemu.Fault, match="matmull.*matmul") as info:
        trnemu.run(build_double(), {"x": ONES}, numerics={"matmull": "chain"})
    assert info.value.category == "input"
    with pytest.raises(trnemu.Fault, match="chain"):
        trnemu.run(build_double(), {"x": ONES}, numerics={"matmul": "chian"})


def test_time_off_excludes_the_timed_schedule():
    with pytest.raises(ValueError):
        trnemu.run(build_double(), {"x": ONES}, time=False, schedule="timed")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"checks": "ful"}, ValueError),
        ({"schedule": "time"}, ValueError),
        ({"schedule": -1}, ValueError),
        ({"schedule": 1.5}, TypeError),
        ({"target": "trn9"}, ValueError),
        ({"seed": -1}, ValueError),
        ({"allow": "an.id"}, TypeError),
        ({"numerics": {"matmul": 1}}, TypeError),
        ({"cheks": "full"}, TypeError),
        ({"program": None}, TypeError),
    ],
)
def test_bad_options_are_refused(options, error):
    with pytest.raises(error):
        trnemu.run(**{"program": build_double(), "inputs": {"x": ONES},
                      **options})


def test_an_instruction_budget_is_a_limit():
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(build_double(), {"x": ONES}, max_instructions=1)
    assert info.value.category == "limit"


def test_an_allowed_error_passes_and_the_result_says_so():
    b = trnemu.ProgramBuilder()
    y = b.output("y", (4, 8), "uint8")
    t = b.sbuf((4, 8), "uint8")
    b.tensor_copy(dst=t, src=b.sbuf((4, 8), "uint8"))
    b.dma_copy(dst=y, src=t)
    p = b.build()
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {})
    r = trnemu.run(p, {}, allow=[info.value.id])
    assert r.allowed == [info.value.id]
    assert [d.id for d in r.diagnostics] == r.allowed
    assert info.value.id in r.summary()


def test_a_program_runs_on_the_target_asked_for():
    r = trnemu.run(build_double(), {"x": ONES}, target="trn1")
    assert r.target == "trn1" and r.summary().split()[1] == "trn1"


def test_a_device_loads_once_runs_many_and_keeps_inout_tensors():
    e = trnemu.Device("trn2", cores=1).load(build_double(inout=True))
    with pytest.raises(trnemu.Fault, match="x"):
        e.run({})  # never given
    values = [e.run({"x": ONES}).outputs["x"][0, 0]]
    values += [e.run({}).outputs["x"][0, 0] for _ in range(2)]
    assert values == [2, 4, 8]
    assert e.run({"x": ONES}).outputs["x"][0, 0] == 2


def test_a_failed_run_leaves_inout_tensors_and_the_device_usable():
    e = trnemu.Device().load(build_double(inout=True))
    e.run({"x": ONES})
    with pytest.raises(trnemu.Fault):
        e.run({}, max_instructions=1)
    assert e.run({}).outputs["x"][0, 0] == 4


def test_devices_are_independent_and_threads_may_run_them():
    p = build_double()
    failures = []

    def work(n: int) -> None:
        x = np.full((64, 32), n, np.float32)
        for _ in range(5):
            y = trnemu.run(p, {"x": x}).outputs["y"]
            if not (y == 2 * n).all():
                failures.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_one_executable_shared_by_threads_runs_one_at_a_time():
    e = trnemu.Device().load(build_double())
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(e.run({"x": ONES}).time_ns)
        )
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 4 and len(set(results)) == 1
