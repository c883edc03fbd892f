"""What `import trnemu` promises of calls: TypeError and Fault, and when."""

from __future__ import annotations

import inspect
import json
import pathlib
import pickle

import ml_dtypes
import numpy as np
import pytest

import trnemu
from sample_programs import build_double

HERE = pathlib.Path(__file__).name


def matmul_tiles(b: trnemu.ProgramBuilder) -> dict[str, trnemu.View]:
    return {
        "dst": b.psum((128, 128), "float32"),
        "stationary": b.sbuf((128, 128), "bfloat16"),
        "moving": b.sbuf((128, 128), "bfloat16"),
    }


def test_a_misspelt_keyword_is_a_type_error_that_names_the_nearest():
    b = trnemu.ProgramBuilder()
    with pytest.raises(TypeError, match="'acumulate'.*'accumulate'"):
        b.nc_matmul(**matmul_tiles(b), acumulate=True)


@pytest.mark.parametrize(
    ("keyword", "nearest"),
    [("enginee", "engine"), ("data_1", "data1"), ("waits", "wait"),
     ("signals", "signal")],
)
def test_a_misspelt_keyword_of_tensor_tensor_names_the_nearest(
    keyword, nearest
):
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    with pytest.raises(TypeError, match=f"'{keyword}'.*'{nearest}'"):
        b.tensor_tensor(
            dst=t, data1=t, data2=t, op="add", **{keyword: "vector"}
        )


def test_a_refused_call_adds_nothing():
    b = trnemu.ProgramBuilder()
    x = b.input("x", (4, 8), "float32")
    y = b.output("y", (4, 8), "float32")
    with pytest.raises(TypeError):
        b.dma_copy(dst=y, src=x, quues=1)
    with pytest.raises(trnemu.Fault):
        b.dma_copy(dst=y, src=x[:2])
    b.dma_copy(dst=y, src=x)
    assert b.build().num_instructions == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"data": np.zeros((4, 8), np.float32)}, "'data' must be a View"),
        ({"data": None}, "'data' must be a View, not None"),
        ({"op": 3}, "'op' must be a str, not int"),
        ({"scale": "1"}, "'scale' must be a View or a number"),
        ({"scale": [1.0]}, "'scale' must be a View or a number"),
        ({"scale": np.ones(1)}, "'scale' must be a View or a number"),
        ({"scale": 1j}, "'scale' must be a View or a number"),
        ({"name": 7}, "'name' must be a str"),
        ({"wait": 3}, "'wait' must be a list"),
        ({"wait": [3]}, "'wait' must be a list of"),
        ({"signal": [(1, 2)]}, "'signal' must be a list of"),
    ],
)
def test_a_wrong_type_is_a_type_error_that_names_the_argument(arguments, says):
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    call = {"dst": t, "op": "exp", "data": t, **arguments}
    with pytest.raises(TypeError, match=says):
        b.activation(**call)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"accumulate": "True"}, "True, False or None"),
        ({"accumulate": 1}, "True, False or None"),
        ({"is_transpose": 1}, "must be a bool"),
        ({"tile_size": 32}, "sequence of ints"),
        ({"tile_size": (32.0, 32)}, "must be an int, not float"),
    ],
)
def test_a_wrong_type_of_a_matmul_argument_is_a_type_error(arguments, says):
    b = trnemu.ProgramBuilder()
    with pytest.raises(TypeError, match=says):
        b.nc_matmul(**matmul_tiles(b), **arguments)


def test_missing_surplus_and_repeated_arguments_are_type_errors():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    with pytest.raises(TypeError, match="missing required argument: 'op'"):
        b.tensor_tensor(t, t, t)
    with pytest.raises(TypeError, match="multiple values for argument 'dst'"):
        b.tensor_tensor(t, t, t, "add", dst=t)
    with pytest.raises(TypeError, match="positional"):
        b.reciprocal(t, t, None, 1)


def test_positional_arguments_are_those_of_nki_isa():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    b.memset(t, 1.0)
    b.tensor_tensor(t, t, t, "add")
    b.tensor_scalar(t, t, "multiply", 2.0)
    assert b.build().num_instructions == 3


@pytest.mark.parametrize("one", [1, 1.0, np.float32(1), np.int64(1),
                                 ml_dtypes.bfloat16(1), True])
def test_numbers_of_python_and_numpy_are_numbers(one):
    b = trnemu.ProgramBuilder()
    y = b.output("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=one)
    b.dma_copy(dst=y, src=t)
    np.testing.assert_array_equal(trnemu.run(b.build(), {}).outputs["y"], 1)


def test_bools_of_numpy_are_bools():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    b.tensor_scalar(t, t, "subtract", 1.0, np.bool_(True))
    b.tensor_reduce(t[:, :1], "add", t, 1, negate=np.False_)
    assert b.build().num_instructions == 2


def test_an_unknown_operation_is_an_attribute_error_that_names_the_nearest():
    with pytest.raises(AttributeError, match="tensor_tensor"):
        trnemu.ProgramBuilder().tensor_tensr  # noqa: B018


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda b: b.input(3, (4, 8), "float32"), "name must be a str"),
        (lambda b: b.input("x", 4, "float32"), "shape must be a sequence"),
        (lambda b: b.input("x", (4, 8.0), "float32"), "shape must be an int"),
        (lambda b: b.sbuf((4, 8), "float32", address=3), "address must be"),
        (lambda b: b.sbuf((4, 8), "float32", address=(1, 2, 3)), "address"),
        (lambda b: b.semaphore(3), "name must be a str"),
    ],
)
def test_a_declaration_of_a_wrong_type_is_a_type_error(call, says):
    with pytest.raises(TypeError, match=says):
        call(trnemu.ProgramBuilder())


def test_bad_builder_options_are_value_errors():
    for options in ({"target": "trn9"}, {"sync": "none"}, {"cores": 3}):
        with pytest.raises(ValueError):
            trnemu.ProgramBuilder(**options)


def test_a_broken_rule_is_a_fault_at_the_call_with_everything_known():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((128, 8), "float32")
    u = b.sbuf((64, 8), "float32")
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(trnemu.Fault) as info:
        b.tensor_tensor(dst=t, data1=t, data2=u, op="add")
    fault = info.value
    assert fault.category == "illegal" and fault.severity == "error"
    assert fault.id.startswith("tensor_tensor.")
    assert fault.operation == "tensor_tensor"
    assert "128" in fault.message and "64" in fault.message
    assert HERE in fault.source and f":{line}" in fault.source
    assert inspect.currentframe().f_code.co_name in fault.source
    assert fault.core == 0 and fault.rank is None
    assert "trn2" in fault.details.values()
    assert fault.reference
    assert str(fault).startswith(f"error: illegal [{fault.id}]: ")


def test_a_fault_is_the_same_as_json():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((128, 8), "float32")
    with pytest.raises(trnemu.Fault) as info:
        b.tensor_tensor(dst=t, data1=t, data2=t[:64], op="add")
    data = json.loads(info.value.to_json())
    assert data["category"] == "illegal"
    assert data["id"] == info.value.id
    assert data["message"] == info.value.message
    assert data["source"] == info.value.source
    assert data["rank"] is None


def test_a_fault_can_be_pickled():
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(build_double(), {})
    again = pickle.loads(pickle.dumps(info.value))
    assert type(again) is type(info.value) and str(again) == str(info.value)


def test_an_unknown_name_of_an_enum_is_a_fault_that_names_the_nearest():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    with pytest.raises(trnemu.Fault, match="'exp'") as info:
        b.activation(dst=t, op="expp", data=t)
    assert info.value.category == "illegal" and info.value.operand == "op"
    with pytest.raises(trnemu.Fault):
        b.activation(dst=t, op="EXP", data=t)  # names are matched exactly


def test_an_index_out_of_bounds_is_a_fault_with_the_users_line():
    x = trnemu.ProgramBuilder().input("x", (4, 8), "float32")
    with pytest.raises(trnemu.Fault) as info:
        x[4]
    assert info.value.category == "out_of_bounds"
    assert HERE in info.value.source


def test_a_view_of_another_builder_is_a_fault():
    a, b = trnemu.ProgramBuilder(), trnemu.ProgramBuilder()
    x = a.input("x", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    with pytest.raises(trnemu.Fault, match="another ProgramBuilder"):
        b.dma_copy(dst=t, src=x)


def test_what_does_not_fit_is_a_capacity_fault_at_build():
    b = trnemu.ProgramBuilder(target="trn1")
    tiles = [b.sbuf((128, n), "uint8") for n in (888, 98568, 98568)]
    for _ in range(2):  # all of them live at once
        for t in tiles:
            b.memset(dst=t[:, :8], value=0)
    with pytest.raises(trnemu.Fault) as info:
        b.build()
    assert info.value.category == "capacity"


def test_reading_what_was_never_written_is_a_fault_at_run():
    b = trnemu.ProgramBuilder()
    y = b.output("y", (4, 8), "float32")
    b.dma_copy(dst=y, src=b.sbuf((4, 8), "float32", name="empty"))
    p = b.build()
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {})
    assert info.value.category == "uninitialized"
    assert "empty" in str(info.value)
    assert HERE in info.value.source


@pytest.mark.parametrize(
    "use",
    [
        lambda b, x, t: b.register_load(1, x[0, :1]),
        lambda b, x, t: b.register_store(x[0, :1], 1),
        lambda b, x, t: b.register_move(1, 2),
        lambda b, x, t: b.register_alu(1, "add", 2, 3),
        lambda b, x, t: b.while_loop(1).__enter__(),
        lambda b, x, t: b.fori_loop(0.0, 4).__enter__(),
        lambda b, x, t: t.indirect(3),
        lambda b, x, t: x.vector_select(0, 3),
        lambda b, x, t: x.ap([[8, 4], [1, 8]], vector_offset=3),
    ],
)
def test_what_is_no_register_or_index_is_a_type_error(use):
    b = trnemu.ProgramBuilder(target="trn3")
    x = b.input("x", (4, 8), "float32")
    t = b.sbuf((16, 8), "float32")
    with pytest.raises(TypeError):
        use(b, x, t)


def test_every_operation_of_nki_isa_is_there():
    """Unsupported is what the reference lists as such, and nothing else of
    these is."""
    for o in trnemu.operations():
        unsupported = {r.id for r in o.rules if r.category == "unsupported"}
        assert unsupported <= {"nc_transpose.tensor_integers"}


@pytest.mark.parametrize(
    ("target", "version"),
    [("trn1", trnemu.nc_version.gen2), ("trn2", trnemu.nc_version.gen3),
     ("trn3", trnemu.nc_version.gen4)],
)
def test_a_builder_says_which_generation_it_builds_for(target, version):
    b = trnemu.ProgramBuilder(target=target)
    assert b.get_nc_version() is version
    assert trnemu.get_nc_version(target) is version
    assert b.get_nc_sub_version() == trnemu.get_nc_sub_version(target) == 0


def test_generations_compare_in_order_and_are_numbers():
    gen2, gen3, gen4 = trnemu.nc_version
    assert gen2 < gen3 < gen4
    assert [int(v) for v in trnemu.nc_version] == [2, 3, 4]
    assert trnemu.ProgramBuilder().get_nc_version() >= gen3
    for query in (trnemu.get_nc_version, trnemu.get_nc_sub_version):
        with pytest.raises(ValueError, match="trn9"):
            query("trn9")
