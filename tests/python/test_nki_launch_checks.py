"""What a launch checks beside the program: the device's front end with allow=
and strict=, kernels within kernels, arguments that a call must give."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from nki_edges import add, body, ramp, refused, stored

from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

same = np.testing.assert_array_equal
TABLE = [1.0, 2.0]  # changed below: a mutable global, which is a warning


def of_list(x, amounts):
    tile = nl.load(x)
    add(tile, amounts[0])
    return stored(tile)


def of_table(x):
    tile = nl.load(x)
    add(tile, TABLE[0])
    return stored(tile)


def with_comprehension(x):
    sizes = [n * 1 for n in x.shape]
    return body(x, float(sizes[0]))


TABLE.append(3.0)


def strict(kernel: Any, **options: Any) -> Any:
    return nki.simulate(kernel, strict_frontend=True, **options)


# strict_frontend: nki/migration/index.rst:683 refuses lists as arguments.


def test_the_strict_front_end_sees_a_launch_s_arguments():
    fault = refused(strict(of_list), ramp(2, 2), [1.0])
    assert fault.id == "nki.strict.list_argument"
    assert "amounts=[...]" in fault.message
    fault = refused(lambda: strict(of_list)(ramp(2, 2), amounts=[1.0]))
    assert fault.id == "nki.strict.list_argument"
    same(strict(of_list)(ramp(2, 2), (1.0,)), ramp(2, 2) + 1)
    same(nki.jit(of_list)(ramp(2, 2), [1.0]), ramp(2, 2) + 1)


def test_arguments_of_methods_are_seen_by_their_names():
    class Model:
        @nki.jit(strict_frontend=True)
        def run(self, x, amounts):
            return of_list(x, amounts)

    fault = refused(Model().run, ramp(2, 2), [1.0])
    assert fault.id == "nki.strict.list_argument"
    assert "amounts=[...]" in fault.message


@pytest.mark.parametrize("kernel, args, id", [
    (of_list, ([1.0],), "list_argument"),
    (with_comprehension, (), "comprehension"),
])
def test_a_finding_of_the_front_end_can_be_allowed(kernel, args, id):
    x = ramp(2, 2)
    fault = refused(strict(kernel), x, *args)
    assert fault.id == f"nki.strict.{id}"
    got = strict(kernel, allow=[fault.id])(x, *args)
    same(got, x + (1 if args else 2))
    # Looking at values runs the program too.
    def looking(y):
        tile = nl.load(y)
        assert np.max(tile) == 3
        return stored(tile)
    nki.simulate(looking, allow=[fault.id])(x)


def test_a_warning_of_the_front_end_is_a_fault_with_strict():
    x = ramp(2, 2)
    with pytest.warns(nki.KernelWarning, match="nki.strict.mutable_global"):
        same(strict(of_table)(x), x + 1)
    fault = refused(strict(of_table, strict=True), x)
    assert fault.id == "nki.strict.mutable_global"
    allowed = {"allow": ["nki.strict.mutable_global"], "strict": True}
    same(strict(of_table, **allowed)(x), x + 1)


def test_allow_takes_no_construct_that_the_front_end_does_not_have():
    with pytest.raises(ValueError, match="did you mean 'nki.strict.set'"):
        nki.simulate(of_list, allow=["nki.strict.sett"])(ramp(2, 2), (1.0,))


# Kernels within kernels: nki/get-started/nki-language-guide.rst:89, calls are
# inlined.


def within(inner, **options):
    return nki.jit(lambda x: inner(x), **options)


@pytest.mark.parametrize("option", [
    {"target": "trn3"}, {"api": "0.4"}, {"numerics": {"mx_scale": "legacy"}},
    {"checks": "memory"}, {"allow": ["race.replicated_write"]},
    {"strict": True}, {"strict_frontend": True}, {"seed": 7},
    {"schedule": "program"}, {"precise_fp": False}, {"max_instructions": 9},
    {"time": False}, {"stop_at_nan": True}, {"summary": True}, {"save": "f"},
    {"profile": True}, {"profile_html": "f"}, {"profile_trace": "f"},
], ids=lambda o: next(iter(o)))
def test_options_of_a_kernel_within_a_kernel_are_those_of_the_outer(option):
    (name,) = option
    inner = nki.jit(body, **option)
    fault = refused(within(inner), ramp(2, 2))
    assert fault.id == "nki.nested_options"
    assert f"{name}=" in fault.message and f"{name}=" in fault.remedy


def test_options_that_the_outer_kernel_has_too_are_no_difference():
    x = ramp(2, 2)
    inner = nki.jit(body, target="gen3", api=(0, 6), allow=("memory.read_unwritten",),
                    numerics={"mx_scale": "legacy"})
    outer = within(inner, numerics={"mx_scale": "legacy"},
                   allow=["race.replicated_write", "memory.read_unwritten"])
    same(outer(x), x + 1)
    inner = nki.jit(body, platform_target="trn3")
    same(within(inner, target="gen4")(x), x + 1)
    same(within(nki.jit(body, mode="jax", debug_kernel=True))(x), x + 1)


def test_a_schedule_of_a_kernel_within_a_kernel_is_refused():
    def two(x):
        tile = nl.load(x)
        nisa.memset(dst=tile, value=1.0, name="a")
        nisa.memset(dst=tile, value=2.0, name="b")
        return stored(tile)

    inner = nki.jit(two).with_schedule([("b", "a")])
    fault = refused(within(inner), ramp(2, 2))
    assert fault.id == "nki.nested_options" and "schedule" in fault.message
    outer = within(two).with_schedule([("b", "a")])
    same(outer(ramp(2, 2)), np.full((2, 2), 2))


def test_a_kernel_on_one_core_is_no_part_of_one_on_two():
    fault = refused(within(nki.jit(body)[1])[2], ramp(2, 2))
    assert fault.id == "nki.grid" and "without brackets" in fault.remedy
    same(within(nki.jit(body)[1])(ramp(2, 2)), ramp(2, 2) + 1)


# Arguments that a call must give.


def test_tensor_scalar_asks_for_operand0():
    """nki/api/nki/isa/__init__.py:1081; None where op0 takes one operand."""

    @nki.jit
    def left_out(x):
        tile = nl.load(x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.abs)

    with pytest.raises(TypeError, match="missing required argument: 'operand0"):
        left_out(ramp(2, 2))

    @nki.jit
    def given(x):
        tile = nl.load(x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.abs, operand0=None)
        nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        return stored(tile)

    same(given(-ramp(2, 2)), ramp(2, 2) + 1)
    parameter = inspect.signature(nisa.tensor_scalar).parameters["operand0"]
    assert parameter.default is inspect.Parameter.empty


def test_full_takes_whole_floats_and_no_others_for_integers():
    """That a float is refused (NKI 0.3) is documented of memset alone
    (nki/migration/index.rst:497)."""
    same(nki.jit(lambda x: stored(nl.full((2, 2), 2.0, nl.int32)))(ramp(1, 1)),
         np.full((2, 2), 2, np.int32))
    half = nki.jit(lambda x: nl.full((2, 2), 2.5, nl.int32))
    assert refused(half, ramp(1, 1)).id == "memset.integer_value"


def test_names_of_ops_and_engines_are_taken_as_strings():
    """Documents refuse strings for buffer= (nki/migration/index.rst:637) and
    numbers for enums (:622), and nothing else."""

    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_scalar(dst=tile, data=tile, op0="add", operand0=1.0,
                           engine="vector")
        return stored(tile)

    same(kernel(ramp(2, 2)), ramp(2, 2) + 1)


def test_nonzero_with_count_reads_the_first_of_each_16_partitions():
    """nki/api/nki/isa/__init__.py:3228; the example of :3250."""

    @nki.jit
    def kernel(x):
        src = nl.ndarray((128, 8), nl.int32)
        dst = nl.ndarray((128, 9), nl.int32)
        out = nl.ndarray((8, 9), nl.int32, buffer=nl.shared_hbm)
        for p in range(0, 128, 16):
            nisa.dma_copy(dst=src[p : p + 1], src=x)
        nisa.nonzero_with_count(dst=dst, src=src, index_offset=16)
        for i in range(8):
            nisa.dma_copy(dst=out[i : i + 1], src=dst[16 * i : 16 * i + 1])
        return out

    x = np.array([[0, 1, 1, 0, 0, 1, 0, 0]], np.int32)
    same(kernel(x), [[17, 18, 21, -1, -1, -1, -1, -1, 3]] * 8)


def test_a_dynamic_offset_of_another_dtype_says_to_view_first():
    @nki.jit
    def kernel(x):
        tile, at = nl.load(x), nisa.register_alloc(1)
        part = tile.ap([[8, 4], [1, 2]], dtype=nl.bfloat16, scalar_offset=at,
                       indirect_dim=1)
        nisa.tensor_copy(dst=nl.ndarray((4, 2), nl.bfloat16), src=part)

    fault = refused(kernel, ramp(4, 4))
    assert fault.category == "unsupported"
    assert "view(dtype)" in fault.remedy
