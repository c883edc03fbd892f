"""Launching kernels: arguments, results, options, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def ramp(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


@nki.jit
def plus_one(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


def test_a_kernel_gives_what_it_returns_as_an_array():
    x = ramp(8, 16)
    out = plus_one(x)
    assert isinstance(out, np.ndarray) and out.dtype == np.float32
    np.testing.assert_array_equal(out, x + 1)


def test_a_launch_leaves_its_program_and_result():
    plus_one(ramp(8, 16))
    assert plus_one.result.time_ns > 0
    assert "trn2" in plus_one.result.summary()
    assert list(plus_one.program.inputs) == ["x"]
    assert list(plus_one.program.outputs) == ["out"]


def test_jit_is_a_decorator_with_and_without_arguments_and_a_function():
    def body(x):
        return plus_one(x)

    for kernel in (nki.jit(body), nki.jit()(body), nki.jit(mode="auto")(body),
                   nki.jit(body, platform_target="trn1")):
        np.testing.assert_array_equal(kernel(ramp(4, 4)), ramp(4, 4) + 1)
    assert nki.jit(body, debug_kernel=True).recorded == {"debug_kernel": True}


def test_an_unknown_keyword_of_jit_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="did you mean 'platform_target'"):
        nki.jit(lambda x: x, platform_targt="trn2")


def test_an_unknown_keyword_of_an_instruction_is_refused_with_the_nearest():
    """Row 43 of the behaviours: acumulate=True was ignored."""

    @nki.jit
    def kernel(a):
        t = nl.ndarray((128, 128), a.dtype, buffer=nl.sbuf)
        p = nl.ndarray((128, 128), nl.float32, buffer=nl.psum)
        nisa.dma_copy(dst=t, src=a)
        nisa.nc_matmul(dst=p, stationary=t, moving=t, acumulate=True)

    with pytest.raises(TypeError, match="did you mean 'accumulate'"):
        kernel(ramp(128, 128))


@pytest.mark.parametrize("name", ["wait", "signal", "trigger", "queues"])
def test_what_trnemu_adds_to_its_operations_is_not_nki_s(name):
    @nki.jit
    def kernel(x):
        t = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(dst=t, src=x, **{name: 1})

    with pytest.raises(TypeError, match="unexpected keyword"):
        kernel(ramp(4, 4))


def test_two_shapes_back_to_back_give_independent_results():
    """Row 45 of the behaviours: state leaked between traces."""
    for shape in ((2, 3), (4, 5), (2, 3)):
        np.testing.assert_array_equal(plus_one(ramp(*shape)), ramp(*shape) + 1)


def test_an_argument_that_the_kernel_writes_is_updated():
    @nki.jit
    def in_place(x):
        tile = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=x, src=tile)
        return x

    x = ramp(4, 8)
    out = in_place(x)
    np.testing.assert_array_equal(x, 2 * ramp(4, 8))
    np.testing.assert_array_equal(out, 2 * ramp(4, 8))


def test_a_write_to_a_read_only_argument_is_refused():
    @nki.jit
    def zero(x):
        tile = nl.zeros(x.shape, x.dtype)
        nisa.dma_copy(dst=x, src=tile)

    x = ramp(4, 8)
    x.flags.writeable = False
    with pytest.raises(trnemu.Fault) as caught:
        zero(x)
    assert caught.value.id == "nki.read_only"


def test_several_results_keep_their_structure():
    @nki.jit
    def both(x):
        a = plus_one(x)
        b = plus_one(a)
        return {"a": a, "rest": [b, (a,)], "n": 3}

    out = both(ramp(4, 4))
    assert out["n"] == 3
    np.testing.assert_array_equal(out["a"], ramp(4, 4) + 1)
    np.testing.assert_array_equal(out["rest"][0], ramp(4, 4) + 2)
    np.testing.assert_array_equal(out["rest"][1][0], ramp(4, 4) + 1)


def test_a_view_of_an_output_is_returned_as_that_view():
    @nki.jit
    def turned(x):
        out = plus_one(x)
        return out.permute((1, 0)), out.reshape((16, 8)), out[2:4, 1]

    a, b, c = turned(ramp(8, 16))
    np.testing.assert_array_equal(a, (ramp(8, 16) + 1).T)
    np.testing.assert_array_equal(b, (ramp(8, 16) + 1).reshape(16, 8))
    np.testing.assert_array_equal(c, (ramp(8, 16) + 1)[2:4, 1])


def test_a_nested_kernel_is_inlined_and_shares_tiles():
    @nki.jit
    def add_into(tile, amount):
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=amount)

    @nki.jit
    def outer(x):
        tile = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        add_into(tile, 2.0)
        add_into[1](tile, 3.0)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        return out

    np.testing.assert_array_equal(outer(ramp(4, 4)), ramp(4, 4) + 5)


def test_arrays_in_objects_lists_and_dicts_become_tensors():
    @dataclasses.dataclass
    class Config(nki.NKIObject):
        weight: Any
        scale: float = 2.0

    @nki.jit
    def kernel(config, others):
        t = nl.ndarray(config.weight.shape, config.weight.dtype)
        u = nl.ndarray(config.weight.shape, config.weight.dtype)
        nisa.dma_copy(dst=t, src=config.weight)
        nisa.dma_copy(dst=u, src=others["b"][0])
        nisa.scalar_tensor_tensor(dst=t, data=t, op0=nl.multiply,
                                  operand0=config.scale, op1=nl.add, operand1=u)
        out = nl.ndarray(t.shape, t.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=t)
        return out

    a, b = ramp(4, 8), ramp(4, 8) * 10
    config = Config(a)
    np.testing.assert_array_equal(kernel(config, {"b": [b]}), 2 * a + b)
    assert config.weight is a
    assert list(kernel.program.inputs) == ["config_weight", "others_b_0"]


def test_one_array_passed_twice_is_one_tensor():
    @nki.jit
    def copy_then_read(dst, src):
        nisa.dma_copy(dst=dst, src=nl.ones(dst.shape, dst.dtype))
        t = nl.load(src)
        out = nl.ndarray(src.shape, src.dtype, buffer=nl.shared_hbm)
        nl.store(out, t)
        return out

    x = ramp(4, 4)
    np.testing.assert_array_equal(copy_then_read(x, x), np.ones((4, 4)))


@pytest.mark.parametrize("array, id", [
    (np.ones((4, 8)), "nki.argument_dtype"),
    (np.ones((4, 8), np.int64), "nki.argument_dtype"),
    (np.float32(1) * np.ones((), np.float32)[...], "nki.argument"),
])
def test_arrays_that_the_device_cannot_hold_are_refused(array, id):
    with pytest.raises(trnemu.Fault) as caught:
        plus_one(np.asarray(array))
    assert caught.value.id == id


def test_bfloat16_and_fp8_arrays_keep_their_dtype():
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.float16):
        x = ramp(4, 4).astype(dtype)
        out = plus_one(x)
        assert out.dtype == dtype
        wanted = (x.astype(np.float32) + 1).astype(dtype)
        np.testing.assert_array_equal(
            out.astype(np.float32), wanted.astype(np.float32))


def test_torch_tensors_give_torch_tensors():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.arange(32).reshape(4, 8).to(dtype)
        out = plus_one(x)
        assert isinstance(out, torch.Tensor) and out.dtype == dtype
        assert torch.equal(out, x + 1)


def test_simulate_makes_a_kernel_of_a_plain_function():
    def body(x):
        return plus_one.func(x)

    np.testing.assert_array_equal(
        nki.simulate(body)(ramp(4, 4)), ramp(4, 4) + 1)
    assert nki.simulate(plus_one, target="trn1")(ramp(4, 4)).shape == (4, 4)


def test_a_traced_kernel_is_a_program_to_save_and_run(tmp_path):
    program = nki.trace(plus_one, nki.TensorSpec((4, 8), "float32"))
    program.save(str(tmp_path / "k.trn"))
    loaded = trnemu.Program.load(str(tmp_path / "k.trn"))
    out = trnemu.run(loaded, {"x": ramp(4, 8)}).outputs["out"]
    np.testing.assert_array_equal(out, ramp(4, 8) + 1)
    with pytest.raises(TypeError, match="no values"):
        plus_one(nki.TensorSpec((4, 8), "float32"))


def test_the_target_is_an_argument_or_the_environment_s(monkeypatch):
    seen = []

    @nki.jit
    def ask(x):
        seen.append(nisa.get_nc_version())
        return plus_one(x)

    ask(ramp(4, 4))
    ask.with_options(target="trn1")(ramp(4, 4))
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "gen4")
    ask(ramp(4, 4))
    gen = nisa.nc_version
    assert seen == [gen.gen3, gen.gen2, gen.gen4]
    assert gen.gen2 < gen.gen3 < gen.gen4


def test_options_set_after_a_launch_hold_for_the_next_of_the_same_kernel():
    def timed():
        plus_one(ramp(4, 4))
        return plus_one.result.time_ns > 0

    assert timed()
    nki._options.set_defaults(time=False)
    try:
        assert not timed()
    finally:
        nki._options.clear_defaults()
    assert timed()


def test_arguments_by_place_by_name_and_left_out_are_the_same():
    @nki.jit
    def scaled(x, by=ramp(4, 4) + 2, add=1.0):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        y = nl.multiply(nl.load(x), nl.load(by))
        nl.store(out, nl.add(y, add))
        return out

    x, by = ramp(4, 4), ramp(4, 4) + 2
    for given in (scaled(x), scaled(x, by), scaled(x, by, 1.0),
                  scaled(x, add=1.0), scaled(by=by, x=x)):
        np.testing.assert_array_equal(given, x * by + 1)
    for wrong in ((), (x, by, 1.0, 2.0)):
        with pytest.raises(TypeError, match="scaled"):
            scaled(*wrong)


def test_a_tile_cannot_be_returned():
    @nki.jit
    def kernel(x):
        return nl.load(x)

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    assert caught.value.id == "nki.return"


@pytest.mark.parametrize("use, hint", [
    (lambda t: nisa.tensor_copy(dst=t, src=nisa.tensor_copy(dst=t, src=t)),
     "use what it was given as dst="),
    (lambda t: nisa.tensor_copy(dst=t, src=np.exp(t)), "use nl's"),
])
def test_what_is_no_tensor_is_refused_with_what_was_meant(use, hint):
    @nki.jit
    def kernel(x):
        use(nl.load(x))

    with pytest.raises(TypeError, match="must be a tensor, not .*" + hint):
        kernel(ramp(4, 4))


def test_wrong_arguments_of_a_launch_name_the_kernel_and_the_nearest():
    @nki.jit
    def kernel(x, epsilon=1e-6):
        return x

    for call, says in (
            (lambda: kernel(), r"kernel\(\): missing a required argument"),
            (lambda: kernel(ramp(4, 4), epsilom=1), "did you mean 'epsilon'"),
            (lambda: nki.trace(kernel, ramp(4, 4), target="trn1"),
             r"with_options\(target=")):
        with pytest.raises(TypeError, match=says):
            call()


def test_instructions_outside_of_kernels_are_refused():
    with pytest.raises(trnemu.Fault) as caught:
        nl.ndarray((4, 4), nl.float32)
    assert caught.value.id == "nki.outside"


def test_a_failed_kernel_leaves_nothing_behind():
    @nki.jit
    def broken(x):
        nl.ndarray((4, 4), nl.float32)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        broken(ramp(4, 4))
    np.testing.assert_array_equal(plus_one(ramp(4, 4)), ramp(4, 4) + 1)


def test_a_fault_names_the_kernel_s_line_and_what_called_it():
    def helper(tile):
        nisa.activation(dst=tile, op=nl.exp, data=tile, bias=tile)  # here

    @nki.jit
    def kernel(x):
        weights = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(dst=weights, src=x)
        helper(weights)  # and here

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(128, 64))
    lines = open(__file__).read().splitlines()
    at = [i + 1 for i, line in enumerate(lines) if line.endswith("# here")]
    called = [i + 1 for i, line in enumerate(lines)
              if line.endswith("# and here")]
    assert caught.value.source == (
        f"{__file__}:{at[0]} in helper, called at {__file__}:{called[0]} in "
        "kernel")
    assert caught.value.calls == (f"{__file__}:{called[0]} in kernel",)


def test_a_fault_of_the_run_names_what_called_the_line_too():
    def load_all_but_one(tile, x):
        nisa.dma_copy(dst=tile[0:3], src=x[0:3])

    def total(tile, x):
        load_all_but_one(tile, x)
        sums = nl.ndarray((4, 1), x.dtype)
        nisa.tensor_reduce(dst=sums, op=nl.add, data=tile, axis=1)
        return sums

    @nki.jit
    def kernel(x):
        out = nl.ndarray((8, 1), x.dtype, buffer=nl.shared_hbm)
        full = nl.load(x)
        nl.store(out[0:4], nl.sum(full, axis=1, keepdims=True))
        nl.store(out[4:8], total(nl.ndarray(x.shape, x.dtype), x))
        return out

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 8))
    fault = caught.value
    assert fault.id == "memory.read_unwritten"
    assert " in total, called at " in fault.source
    assert fault.source.endswith(" in kernel")
    assert len(fault.calls) == 1
    assert "in load_all_but_one, called at" in "".join(fault.related)


def test_one_line_reached_in_two_ways_has_two_chains():
    faults = []

    def broken(tile):
        try:
            nisa.activation(dst=tile, op=nl.exp, data=tile, bias=tile)
        except trnemu.Fault as fault:
            faults.append(fault)

    @nki.jit
    def kernel(x):
        t = nl.load(x)
        broken(t)
        broken(t)
        return x

    kernel(ramp(4, 8))
    first, second = (f.calls[0] for f in faults)
    assert first != second
    assert int(second.split(":")[1].split()[0]) == int(
        first.split(":")[1].split()[0]) + 1


def test_tensors_have_the_names_of_the_kernel_s_variables():
    names = []

    @nki.jit
    def kernel(x):
        weights = nl.ndarray(x.shape, x.dtype)
        tiles = []
        for _ in range(2):
            tiles.append(nl.ndarray(x.shape, x.dtype))
        many = [nl.ndarray(x.shape, x.dtype) for _ in range(2)]
        given = nl.ndarray(x.shape, x.dtype, name="mine")
        names.extend(t.name for t in (weights, *tiles, *many, given, x))

    kernel(ramp(4, 4))
    assert names == ["weights", "tiles", "tiles", "many", "many", "mine", "x"]
