"""API versions 0.2 to 0.6: each difference of docs/nki-versions.md under the
last version that has it and the first that does not.

Expected values are NumPy's or worked out beside the test; the forms of calls
are those of the migration guide.
"""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import _trace, _versions
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "nki-versions.md"
F32 = np.float32
X = np.arange(32, dtype=F32).reshape(4, 8)


def under(
    api: str, body: Callable[..., Any], *arrays: Any, **options: Any
) -> Any:
    """What the kernel returns under a version; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return nki.simulate(body, api=api, **options)(*arrays)


def refused(
    api: str, id: str, body: Callable[..., Any], *arrays: Any, **options: Any
) -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as caught:
        under(api, body, *arrays, **options)
    assert caught.value.id == id, caught.value
    return caught.value


def type_error(
    api: str, text: str, body: Callable[..., Any], *arrays: Any,
    **options: Any,
) -> None:
    with pytest.raises(TypeError, match=text):
        under(api, body, *arrays, **options)


def tile_of(x: Any) -> Any:
    tile = nl.ndarray(x.shape, x.dtype)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def out_of(tile: Any) -> Any:
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text() == _versions.page()


def test_every_row_says_what_happens_before_and_after_or_that_it_is_one() -> (
    None
):
    for row in _versions.DIFFERENCES:
        assert bool(row.same) != bool(row.before and row.after), row.subject
        assert (0, 2) < row.since <= (0, 6) and row.source, row.subject


def test_rules_that_the_page_names_exist() -> None:
    rules = {r.id for o in trnemu.operations() for r in o.rules}
    named = {i for i in _versions.ids() if i.partition(".")[0] in {
        o.name for o in trnemu.operations()}}
    assert named and named <= rules


def test_the_newest_version_records_without_a_step_in_between() -> None:
    def kernel(x: Any) -> Any:
        trace = _trace.current()
        assert trace.record.__self__ is trace.core
        return x

    under("0.6", kernel, X)


# --- arguments that are not there -------------------------------------------


def copy_with(**more: Any) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        tile, copy = tile_of(x), nl.ndarray(x.shape, x.dtype)
        nisa.tensor_copy(dst=copy, src=tile, **more)
        return out_of(copy)

    return kernel


@pytest.mark.parametrize("more", [{"dtype": nl.float32}, {"colour": 3}])
def test_an_unknown_argument_is_left_out_with_a_warning_before_0_3(
    more: dict[str, Any],
) -> None:
    (name,) = more
    with pytest.warns(nki.KernelWarning, match=f"{name}=.* is ignored") as seen:
        got = nki.simulate(copy_with(**more), api="0.2")(X)
    assert (got == X).all()
    assert "0.3 refuses it" in str(seen[0].message)
    assert seen[0].filename == __file__
    type_error("0.3", f"unexpected keyword argument '{name}'",
               copy_with(**more), X)


def test_the_warning_comes_once_for_a_line() -> None:
    def kernel(x: Any) -> Any:
        tile = tile_of(x)
        for _ in range(5):
            nisa.tensor_copy(dst=tile, src=tile, dtype=x.dtype)
        nisa.tensor_copy(dst=tile, src=tile, dtype=x.dtype)
        return out_of(tile)

    with pytest.warns(nki.KernelWarning) as seen:
        nki.simulate(kernel, api="0.2")(X)
    assert len(seen) == 2


def test_the_warning_can_be_allowed_and_made_a_fault() -> None:
    id = "nki.ignored_argument"
    kernel = copy_with(dtype=nl.float32)
    allowed = nki.jit(kernel, api="0.2", allow=[id])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nki.trace(allowed, X)
    assert refused("0.2", id, kernel, X, strict=True).severity == "warning"


def test_a_dtype_that_is_not_the_destination_s_is_left_out_before_0_3() -> None:
    with pytest.warns(nki.KernelWarning, match="nki.ignored_argument"):
        got = nki.simulate(copy_with(dtype="int32"), api="0.2")(X)
    assert (got == X).all()
    type_error("0.3", "'dtype'", copy_with(dtype="int32"), X)


def test_before_0_3_a_mask_is_none() -> None:
    assert (under("0.2", copy_with(mask=None), X) == X).all()
    refused("0.2", "nki.mask", copy_with(mask=X > 3), X)
    type_error("0.3", "'mask'", copy_with(mask=None), X)


def product_with(**more: Any) -> Callable[..., Any]:
    def kernel(a: Any, b: Any) -> Any:
        psum = nl.ndarray((a.shape[1], b.shape[1]), nl.float32, nl.psum)
        nisa.nc_matmul(dst=psum, stationary=tile_of(a), moving=tile_of(b),
                       **more)
        sbuf = nl.ndarray(psum.shape, nl.float32)
        nisa.tensor_copy(dst=sbuf, src=psum)
        return out_of(sbuf)

    return kernel


def test_is_moving_zero_is_is_moving_onezero_before_0_3() -> None:
    kernel = product_with(is_moving_zero=True)
    eye = np.eye(8, dtype=F32)
    assert (under("0.2", kernel, np.eye(8, 4, dtype=F32), eye)
            == np.eye(4, 8)).all()
    # As is_moving_onezero, it says that there are only ones and zeros.
    plain = product_with(is_moving_onezero=True)
    program = [nki.trace(nki.jit(k, api="0.2"), eye, eye)
               for k in (kernel, plain)]
    assert "onezero=true" in program[0].to_text()
    assert program[0].to_text() == program[1].to_text()
    type_error("0.3", "did you mean 'is_moving_onezero'", kernel, eye, eye)


def test_the_accumulate_flag_of_sdk_2_27_had_no_effect() -> None:
    a = np.arange(12, dtype=F32).reshape(3, 4)
    kernel = product_with(psumAccumulateFlag=3)
    with pytest.warns(nki.KernelWarning, match="psumAccumulateFlag=3"):
        got = nki.simulate(kernel, api="0.2")(a, a)
    assert (got == a.T @ a).all()
    type_error("0.3", "psumAccumulateFlag", kernel, a, a)


# --- arguments by position --------------------------------------------------


def test_affine_select_s_third_argument_is_offset_before_0_3() -> None:
    """Keeps where 1 + p - f > 0: column f below 1 + p."""

    def older(x: Any) -> Any:
        dst = nl.ndarray(x.shape, x.dtype)
        nisa.affine_select(dst, [[-1, 8]], 1, 1, tile_of(x), -5.0, nl.greater)
        return out_of(dst)

    def newer(x: Any) -> Any:
        dst = nl.ndarray(x.shape, x.dtype)
        nisa.affine_select(dst, [[-1, 8]], 1, tile_of(x), -5.0, nl.greater, 1)
        return out_of(dst)

    p, f = np.mgrid[0:4, 0:8]
    want = np.where(1 + p - f > 0, X, F32(-5))
    assert (under("0.2", older, X) == want).all()
    assert (under("0.3", newer, X) == want).all()
    type_error("0.3", "on_true_tile", older, X)
    type_error("0.2", "channel_multiplier", newer, X)


def test_affine_select_s_offset_may_be_left_out_before_0_3() -> None:
    """nki-library 2.28 (cascaded_max) does."""

    def kernel(x: Any) -> Any:
        dst = nl.ndarray(x.shape, x.dtype)
        nisa.affine_select(dst=dst, pattern=[[1, 8]], channel_multiplier=-1,
                           on_true_tile=tile_of(x), on_false_value=0.0)
        return out_of(dst)

    want = np.where(np.eye(4, 8), X, 0)
    assert (under("0.2", kernel, X) == want).all()
    assert (under("0.3", kernel, X) == want).all()


def test_dma_compute_takes_scales_before_reduce_op_before_0_3() -> None:
    def older(x: Any, y: Any) -> Any:
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_compute(out, [x, y], [1.0, 1.0], nl.add)
        return out

    def newer(x: Any, y: Any) -> Any:
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_compute(out, [x, y], nl.add, [1.0, 1.0])
        return out

    assert (under("0.2", older, X, X[::-1].copy()) == X + X[::-1]).all()
    assert (under("0.3", newer, X, X[::-1].copy()) == X + X[::-1]).all()
    type_error("0.3", "reduce_op", older, X, X)
    type_error("0.2", "scales", newer, X, X)


@pytest.mark.parametrize(
    ("api", "before"),
    [("0.2", (None, "error")), ("0.3", ("error",)), ("0.4", (None, "error"))],
)
def test_the_place_of_dma_copy_s_dge_mode(
    api: str, before: tuple[Any, ...]
) -> None:
    """trn1 has no hwdge, so that the rule tells where it was read."""

    def kernel(x: Any) -> Any:
        tile = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(tile, x, *before, nisa.dge_mode.hwdge)

    refused(api, "dma_copy.hwdge_generation", kernel, X, target="trn1")


def test_the_place_of_dma_transpose_s_dge_mode() -> None:
    """0.4 has priority there."""

    def kernel(x: Any) -> Any:
        tile = nl.ndarray(x.shape[::-1], x.dtype)
        nisa.dma_transpose(tile, x, (1, 0), "swdge")

    refused("0.3", "dma_transpose.swdge", kernel, X)
    type_error("0.4", "priority", kernel, X)


def test_nc_matmul_has_tile_position_where_0_3_has_accumulate() -> None:
    def kernel(a: Any, b: Any) -> Any:
        psum = nl.ndarray((a.shape[1], b.shape[1]), nl.float32, nl.psum)
        nisa.nc_matmul(psum, tile_of(a), tile_of(b), False, False, False, ())
        sbuf = nl.ndarray(psum.shape, nl.float32)
        nisa.tensor_copy(dst=sbuf, src=psum)
        return out_of(sbuf)

    assert (under("0.2", kernel, X, X) == X.T @ X).all()
    type_error("0.3", "accumulate", kernel, X, X)


def test_tensor_scalar_reduce_has_name_where_0_4_has_reduce_cmd() -> None:
    def kernel(x: Any) -> Any:
        tile, total = tile_of(x), nl.ndarray((4, 1), nl.float32)
        nisa.tensor_scalar_reduce(tile, tile, nl.add, 1.0, nl.add, total,
                                  False, "sum")
        return out_of(total)

    assert (under("0.3", kernel, X) == (X + 1).sum(1, keepdims=True)).all()
    refused("0.4", "operand.value", kernel, X)


def test_an_argument_too_many_or_twice_is_a_type_error_as_python_s() -> None:
    def many(x: Any) -> Any:
        nisa.dma_copy(x, x, None, "error", "none", True, "name", 1)

    def twice(x: Any) -> Any:
        nisa.dma_copy(x, x, dst=x)

    type_error("0.2", "takes 7 positional arguments but 8", many, X)
    type_error("0.2", "multiple values for argument 'dst'", twice, X)


# --- what a later version adds ----------------------------------------------


@pytest.mark.parametrize(
    ("operation", "more", "last", "first"),
    [
        ("nc_matmul", {"accumulate": None}, "0.2", "0.3"),
        ("dma_copy", {"engine": "unknown"}, "0.2", "0.3"),
        ("dma_copy", {"priority": None}, "0.3", "0.4"),
        ("dma_transpose", {"priority": None}, "0.3", "0.4"),
        ("dma_compute", {"unique_indices": True}, "0.2", "0.3"),
        ("dma_compute", {"oob_mode": "error"}, "0.3", "0.4"),
        ("tensor_scalar_reduce", {"reduce_cmd": "reset_reduce"}, "0.3", "0.4"),
        ("tensor_scalar_reduce", {"reduce_res_negate": False}, "0.5", "0.6"),
    ],
)
def test_an_argument_is_refused_before_the_version_that_has_it(
    operation: str, more: dict[str, Any], last: str, first: str
) -> None:
    def kernel(x: Any) -> Any:
        tile, turned = tile_of(x), nl.ndarray(x.shape[::-1], x.dtype)
        total = nl.ndarray((4, 1), nl.float32)
        psum = nl.ndarray((8, 8), nl.float32, nl.psum)
        given = {
            "nc_matmul": dict(dst=psum, stationary=tile, moving=tile),
            "dma_copy": dict(dst=tile, src=x),
            "dma_transpose": dict(dst=turned, src=x),
            "dma_compute": dict(dst=tile, srcs=[x, x], reduce_op=nl.add),
            "tensor_scalar_reduce": dict(
                dst=tile, data=tile, op0=nl.add, operand0=1.0,
                reduce_op=nl.add, reduce_res=total),
        }[operation]
        getattr(nisa, operation)(**given, **more)

    (name,) = more
    fault = refused(last, "nki.later_version", kernel, X)
    assert f"{operation}: {name}= is of NKI {first}" in fault.message
    assert fault.operand == name
    under(first, kernel, X)


def test_instructions_are_refused_before_the_version_that_has_them() -> None:
    def activate2(x: Any) -> Any:
        tile = tile_of(x)
        nisa.activate2(dst=tile, op=nl.relu, data=tile, imm0=1.0, imm1=0.0,
                       op0=nl.multiply, op1=nl.add)
        return out_of(tile)

    def topk(x: Any) -> Any:
        values = nl.ndarray((16, 8), nl.float32)
        nisa.topk(values, nl.ndarray((16, 8), nl.uint32), tile_of(x), 8)
        return out_of(values)

    refused("0.3", "nki.later_version", activate2, X, target="trn3")
    assert (under("0.4", activate2, X, target="trn3") == X).all()
    fault = refused("0.5", "nki.later_version", topk, X)
    assert "topk is of NKI 0.6 and later" in fault.message


def test_tensor_scalar_reduce_needs_reduce_res_before_0_6() -> None:
    def kernel(x: Any) -> Any:
        tile, total = tile_of(x), nl.ndarray((4, 1), nl.float32)
        call = dict(dst=tile, data=tile, op0=nl.multiply, operand0=1.0,
                    reduce_op=nl.add)
        nisa.tensor_scalar_reduce(**call)
        nisa.tensor_scalar_reduce(**call, reduce_res=total,
                                  reduce_cmd=nisa.reduce_cmd.reduce)
        return out_of(total)

    fault = refused("0.5", "nki.later_version", kernel, X)
    assert fault.operand == "reduce_res"
    assert (under("0.6", kernel, X) == 2 * X.sum(1, keepdims=True)).all()


# --- instructions -----------------------------------------------------------


def test_dma_copy_reads_psum_before_0_3() -> None:
    def kernel(x: Any) -> Any:
        psum = nl.ndarray(x.shape, x.dtype, nl.psum)
        nisa.tensor_copy(dst=psum, src=tile_of(x))
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=psum)
        return out

    assert (under("0.2", kernel, X) == X).all()
    refused("0.3", "dma_copy.psum", kernel, X)


def read_modify_write(op: Any, **more: Any) -> Callable[..., Any]:
    def kernel(x: Any, y: Any) -> Any:
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=y)
        nisa.dma_copy(dst=out, src=tile_of(x), dst_rmw_op=op, **more)
        return out

    return kernel


def test_dst_rmw_op_adds_to_the_destination_before_0_3() -> None:
    y = 100 * X
    adds = read_modify_write(nl.add)
    assert (under("0.2", adds, X, y) == X + y).all()
    copies = read_modify_write(None, unique_indices=True)
    assert (under("0.2", copies, X, y) == X).all()
    refused("0.2", "nki.older_behaviour",
            read_modify_write(nl.add, dge_mode=nisa.dge_mode.hwdge), X, y)
    type_error("0.3", "dst_rmw_op", adds, X, y)


def filled(dtype: Any, value: Any) -> Callable[[], Any]:
    def kernel() -> Any:
        tile = nl.ndarray((4, 8), dtype)
        nisa.memset(dst=tile, value=value)
        return out_of(tile)

    return kernel


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32"])
def test_memset_takes_whole_floats_for_integers_before_0_3(dtype: str) -> None:
    kernel = filled(dtype, 2.0)
    assert (under("0.2", kernel) == np.full((4, 8), 2, dtype)).all()
    fault = refused("0.3", "nki.memset_value", kernel)
    assert "value=2" in fault.finding.remedy
    refused("0.6", "nki.memset_value", filled(dtype, np.float32(2)))
    assert (under("0.6", filled(dtype, 2)) == 2).all()
    refused("0.2", "memset.integer_value", filled(dtype, 2.5))


def test_memset_by_position_is_read_as_well() -> None:
    def kernel() -> Any:
        nisa.memset(nl.ndarray((4, 8), nl.int32), 1.0)

    refused("0.6", "nki.memset_value", kernel)
    under("0.2", kernel)


def test_memset_takes_whole_numbers_for_floats_in_every_version() -> None:
    for api in ("0.2", "0.3", "0.6"):
        assert (under(api, filled("float32", 2)) == 2).all()
        refused(api, "memset.packed", filled("float8_e5m2_x4", 1),
                target="trn3")


def reduced(axis: Any, *shape: int) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        total = nl.ndarray(shape, x.dtype)
        nisa.tensor_reduce(dst=total, op=nl.add, data=tile_of(x), axis=axis)
        return out_of(total)

    return kernel


def test_axis_1_of_tensor_reduce_is_the_last_axis_before_0_3() -> None:
    x = np.arange(4 * 3 * 5, dtype=F32).reshape(4, 3, 5)
    assert (under("0.2", reduced(1, 4, 3), x) == x.sum(2)).all()
    refused("0.3", "tensor_reduce.axis", reduced(1, 4, 3), x)
    assert (under("0.3", reduced(2, 4, 3), x) == x.sum(2)).all()


@pytest.mark.parametrize(
    ("axis", "axes"),
    [
        ([4], 1), ([1], 1), ([3], 1),  # [3] as 0.3 has it
        ([3, 4], 2), ([1, 2], 2), ([2, 3], 2),
        ([2, 3, 4], 3), ([1, 2, 3], 3),
    ],
)
def test_lists_of_axes_count_from_the_last_before_0_3(
    axis: list[int], axes: int
) -> None:
    x = np.arange(4 * 2 * 3 * 5, dtype=F32).reshape(4, 2, 3, 5)
    want = x.sum(tuple(range(4 - axes, 4)))
    shape = want.shape if want.ndim > 1 else (4, 1)
    assert (under("0.2", reduced(axis, *shape), x)
            == want.reshape(shape)).all()
    if axis[-1] != 3:
        refused("0.3", "tensor_reduce.axis", reduced(axis, *shape), x)


@pytest.mark.parametrize("axis", [2, [2], [1, 3], [0, 1], [5]])
def test_other_axes_are_refused_before_0_3_too(axis: Any) -> None:
    x = np.zeros((4, 2, 3, 5), F32)
    refused("0.2", "tensor_reduce.axis", reduced(axis, 4, 2, 3), x)


def test_register_move_s_source_is_called_imm_before_0_3() -> None:
    def moved(**source: Any) -> Callable[[], Any]:
        def kernel() -> Any:
            register = nisa.register_alloc()
            nisa.register_move(register, **source)
            tile = nl.ndarray((1, 1), nl.int32)
            nisa.register_store(tile, register)
            return out_of(tile)

        return kernel

    assert under("0.2", moved(imm=42)).item() == 42
    refused("0.2", "nki.later_version", moved(src=42))
    type_error("0.3", "'imm'", moved(imm=42))
    assert under("0.3", moved(src=42)).item() == 42


def exchanged(*place: Any, **more: Any) -> Callable[[Any], Any]:
    """Each core sends its half, of which out has those of the other."""

    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        core = nl.program_id(0)
        rows = slice(16 * core, 16 * core + 16)
        mine = tile_of(x[rows])
        theirs = nl.ndarray(mine.shape, x.dtype)
        nisa.sendrecv(mine, theirs, 1 - core, 1 - core, 0, *place, **more)
        nisa.dma_copy(dst=out[rows], src=theirs)
        return out

    return kernel


def on_two(api: str, body: Callable[..., Any], x: Any) -> Any:
    return nki.simulate(nki.jit(body)[2], api=api)(x)


@pytest.mark.parametrize("gpsimd", [True, False])
def test_sendrecv_has_use_gpsimd_dma_before_0_3(gpsimd: bool) -> None:
    x = np.arange(32 * 8, dtype=F32).reshape(32, 8)
    want = np.roll(x, 16, 0)
    older = exchanged("named", use_gpsimd_dma=gpsimd)
    assert (on_two("0.2", older, x) == want).all()
    engine = nisa.dma_engine.gpsimd_dma if gpsimd else nisa.dma_engine.dma
    newer = exchanged(dma_engine=engine)
    assert (on_two("0.3", newer, x) == want).all()
    with pytest.raises(TypeError, match="use_gpsimd_dma"):
        on_two("0.3", exchanged(use_gpsimd_dma=gpsimd), x)
    with pytest.raises(trnemu.Fault, match="is of NKI 0.3"):
        on_two("0.2", newer, x)
    texts = [nki.trace(nki.jit(k, api=a)[2], x).to_text()
             for k, a in ((older, "0.2"), (newer, "0.3"))]
    assert [t.count("gpsimd_dma") > 0 for t in texts] == [gpsimd, gpsimd]


def test_use_gpsimd_dma_is_a_bool() -> None:
    with pytest.raises(TypeError, match="must be a bool, not int"):
        on_two("0.2", exchanged(use_gpsimd_dma=1), np.zeros((32, 8), F32))


def ranged(**more: Any) -> Callable[..., Any]:
    def kernel(x: Any, low: Any, high: Any) -> Any:
        tile = tile_of(x)
        nisa.range_select(
            dst=tile, on_true_tile=tile, comp_op0=nl.greater_equal,
            comp_op1=nl.less, bound0=tile_of(low), bound1=tile_of(high),
            **more)
        return out_of(tile)

    return kernel


def test_range_select_has_one_false_value_and_command_before_0_3() -> None:
    low, high = np.full((4, 1), 2, F32), np.full((4, 1), 5, F32)
    smallest = float(np.finfo(F32).min)
    f = np.arange(8)
    want = np.where((f >= 2) & (f < 5), X, F32(smallest))
    for more in ({}, {"on_false_value": smallest,
                      "reduce_cmd": nisa.reduce_cmd.reset_reduce}):
        assert (under("0.2", ranged(**more), X, low, high) == want).all()
    for more in ({"on_false_value": 0.0},
                 {"reduce_cmd": nisa.reduce_cmd.idle}):
        fault = refused("0.2", "nki.older_behaviour", ranged(**more), X, low,
                        high)
        assert fault.operand == next(iter(more))
    idle = ranged(reduce_cmd=nisa.reduce_cmd.idle)
    assert (under("0.3", idle, X, low, high) == want).all()
    refused("0.3", "range_select.on_false_value", ranged(on_false_value=0.0),
            X, low, high)


def test_numbers_of_enums_are_their_members_before_0_4() -> None:
    def copied(**more: Any) -> Callable[[Any], Any]:
        def kernel(x: Any) -> Any:
            tile = nl.ndarray(x.shape, x.dtype)
            nisa.dma_copy(dst=tile, src=x, **more)
            return out_of(tile)

        return kernel

    for api in ("0.2", "0.3"):
        assert (under(api, copied(dge_mode=3, oob_mode=0), X) == X).all()
    # 2 is hwdge, which trn1 lacks; 5 the vector engine.
    refused("0.2", "dma_copy.hwdge_generation", copied(dge_mode=2), X,
            target="trn1")
    assert (under("0.2", copy_with(engine=5), X) == X).all()
    assert "vector" in nki.trace(
        nki.jit(copy_with(engine=5), api="0.2"), X).to_text()
    for api in ("0.4", "0.6"):
        type_error(api, "dge_mode.* must be a name", copied(dge_mode=3), X)
        type_error(api, "engine.* must be a name", copy_with(engine=5), X)
    type_error("0.3", "dge_mode", copied(dge_mode=9), X)


def test_iota_s_offset_may_be_left_out_in_every_version() -> None:
    def kernel() -> Any:
        tile = nl.ndarray((4, 8), nl.int32)
        nisa.iota(dst=tile, pattern=[[1, 8]], channel_multiplier=8)
        return out_of(tile)

    for api in ("0.2", "0.3"):
        assert (under(api, kernel) == X).all()


def test_a_transpose_s_destination_may_have_a_lower_rank_before_0_4() -> None:
    x = np.arange(6 * 8, dtype=np.int16).reshape(6, 1, 1, 8)

    def into(*shape: int, axes: Any = (3, 1, 2, 0)) -> Callable[[Any], Any]:
        def kernel(x: Any) -> Any:
            tile = nl.ndarray(shape, x.dtype)
            nisa.dma_transpose(dst=tile, src=x, axes=axes)
            return out_of(tile)

        return kernel

    want = x.reshape(6, 8).T
    for shape in ((8, 1, 1, 6), (8, 1, 6), (8, 6)):
        got = under("0.3", into(*shape), x)
        assert got.shape == shape and (got.reshape(8, 6) == want).all()
    assert (under("0.2", into(8, 6, axes=None), x) == want).all()
    refused("0.4", "dma_transpose.rank", into(8, 1, 6), x)
    refused("0.3", "dma_transpose.rank", into(6, 8), x)
    refused("0.3", "dma_transpose.rank", into(8, 2, 3), x)


@pytest.mark.parametrize("name", ["src", "dst"])
def test_tensor_copy_dynamic_is_gone_from_0_4_on(name: str) -> None:
    def kernel(x: Any, index: Any) -> Any:
        tile, where = tile_of(x), tile_of(index)
        part = nl.ndarray((4, 2), x.dtype)
        nisa.memset(part, 7.0)
        moved = tile.ap([[8, 4], [1, 2]], scalar_offset=where, indirect_dim=1)
        function = getattr(nisa, f"tensor_copy_dynamic_{name}")
        if name == "src":
            function(dst=part, src=moved)
            return out_of(part)
        function(moved, part, engine=nisa.vector_engine)
        return out_of(tile)

    index = np.array([[3]], np.uint32)
    want = X[:, 3:5] if name == "src" else X.copy()
    if name == "dst":
        want[:, 3:5] = 7
    for api in ("0.2", "0.3"):
        assert (under(api, kernel, X, index) == want).all()
    for api in ("0.4", "0.6"):
        fault = refused(api, "nki.removed", kernel, X, index)
        assert "tensor_copy" in fault.finding.remedy


def test_a_name_that_no_version_has_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="tensor_copy_dynamic_both"):
        _ = nisa.tensor_copy_dynamic_both


# --- numerics ---------------------------------------------------------------


def quantized(x: Any) -> Any:
    elements = nl.ndarray((32, 2), nl.float8_e4m3fn_x4)
    scale = nl.ndarray((4, 2), nl.uint8)
    nisa.quantize_mx(dst=elements, src=tile_of(x), dst_scale=scale)
    return out_of(scale)


def test_quantize_mx_has_the_smaller_scale_before_0_5() -> None:
    """Of ones: 2^(0 - 8) before, 2^(0 - 7) then; e8m0 codes with bias 127."""
    ones = np.ones((32, 8), ml_dtypes.bfloat16)
    codes = {api: under(api, quantized, ones, target="trn3")
             for api in ("0.2", "0.4", "0.5", "0.6")}
    want = {"0.2": 119, "0.4": 119, "0.5": 120, "0.6": 120}
    assert {k: np.unique(v).tolist() for k, v in codes.items()} == {
        k: [v] for k, v in want.items()}


def test_numerics_that_are_given_go_before_the_version_s() -> None:
    ones = np.ones((32, 8), ml_dtypes.bfloat16)
    for api, rule, code in (("0.4", "current", 120), ("0.5", "legacy", 119)):
        got = under(api, quantized, ones, target="trn3",
                    numerics={"mx_scale": rule})
        assert (got == code).all()


# --- tensors and launches ---------------------------------------------------


def allocated(buffer: Any) -> Callable[[], Any]:
    def kernel() -> Any:
        tile = nl.ndarray((4, 8), nl.float32, buffer=buffer)
        assert tile.buffer == nl.sbuf
        nisa.memset(tile, 1.0)
        return out_of(tile)

    return kernel


def test_regions_have_names_before_0_3() -> None:
    assert (under("0.2", allocated("sbuf")) == 1).all()
    assert (under("0.2", allocated(None)) == 1).all()
    fault = refused("0.3", "nki.buffer_name", allocated("sbuf"))
    assert "buffer=nl.sbuf" in fault.finding.remedy
    type_error("0.3", "buffer must be nl.", allocated(None))
    type_error("0.2", "buffer must be nl.", allocated("dram"))


def in_hbm(x: Any) -> Any:
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


def test_a_result_in_hbm_is_warned_about_by_the_strict_front_end() -> None:
    """From 0.3 on; the documentation's own kernels of 0.6 return nl.hbm."""
    for api in ("0.2", "0.3", "0.6"):
        assert (under(api, in_hbm, X) == X).all()
    strict = {"strict_frontend": True}
    for api in ("0.3", "0.6"):
        with pytest.warns(nki.KernelWarning, match="nki.output_hbm"):
            got = nki.simulate(in_hbm, api=api, **strict)(X)
        assert (got == X).all()


def test_an_argument_that_is_returned_is_no_result_in_hbm() -> None:
    assert under("0.6", lambda x: x, X) is X


def test_ap_is_for_whole_tensors_before_0_5() -> None:
    def kernel(x: Any) -> Any:
        tile = tile_of(x)
        part = nl.ndarray((4, 2), x.dtype)
        nisa.tensor_copy(dst=part, src=tile[:, 2:].ap([[8, 4], [1, 2]], 1))
        return out_of(part)

    half = X.astype(np.float16)
    assert (under("0.5", kernel, X) == X[:, 3:5]).all()
    fault = refused("0.4", "nki.ap_of_view", kernel, X)
    assert "starts at element 2" in fault.message
    assert (under("0.5", kernel, half, precise_fp=False) == X[:, 3:5]).all()
    refused("0.4", "nki.ap_of_view", kernel, half, precise_fp=False)


@pytest.mark.parametrize("api", ["0.2", "0.4", "0.5"])
def test_ap_of_what_starts_where_the_tensor_does_is_one_thing(
    api: str,
) -> None:
    def kernel(x: Any) -> Any:
        part = nl.ndarray((4, 2), x.dtype)
        view = tile_of(x)[...].reshape((4, 2, 4))
        nisa.tensor_copy(dst=part, src=view.ap([[8, 4], [1, 2]], 3))
        return out_of(part)

    assert (under(api, kernel, X) == X[:, 3:5]).all()


def test_ap_of_a_part_of_an_argument_is_refused_before_0_5_too() -> None:
    def kernel(x: Any) -> Any:
        return out_of(tile_of(x[1:].ap([[8, 3], [1, 8]])))

    assert (under("0.5", kernel, X) == X[1:]).all()
    refused("0.4", "nki.ap_of_view", kernel, X)


def test_reshape_takes_new_shape_before_0_5_and_counts_in_all() -> None:
    def named(x: Any) -> Any:
        return out_of(tile_of(x.reshape(new_shape=(2, 16))))

    def less(x: Any) -> Any:
        return out_of(tile_of(x.reshape((2, 8))))

    assert (under("0.4", named, X) == X.reshape(2, 16)).all()
    type_error("0.5", "reshape", named, X)
    for api in ("0.2", "0.4", "0.5"):
        refused(api, "access.reshape", less, X)


@pytest.mark.parametrize("api", ["0.2", "0.3", "0.6"])
def test_the_decorator_takes_mode_and_platform_target_in_every_version(
    api: str,
) -> None:
    kernel = nki.jit(copy_with(), mode="torchxla", platform_target="trn1",
                     api=api)
    assert (kernel(X) == X).all()
    assert kernel.recorded == {"mode": "torchxla"}
    assert kernel.program.target == "trn1"


@pytest.mark.parametrize("api", ["0.2", "0.3", "0.4", "0.5", "0.6"])
def test_nested_functions_of_nl_do_not_depend_on_the_version(
    api: str,
) -> None:
    """They record the present form, whatever the kernel's is."""

    def kernel(x: Any) -> Any:
        tile = nl.load(x)
        total = nl.sum(tile, axis=[1])
        return out_of(nl.add(nl.multiply(tile, 2.0), nl.zeros((4, 8),
                                                              nl.float32))
                      ), out_of(total)

    doubled, total = under(api, kernel, X)
    assert (doubled == 2 * X).all()
    assert (total.ravel() == X.sum(1)).all()
