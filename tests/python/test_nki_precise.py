"""High-precision floating point: precise_fp=False."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

BF16 = ml_dtypes.bfloat16
F32 = np.float32


def normal(*shape, dtype=BF16, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def in_kernel(use, *arrays, target="trn2", precise=False):
    """What use(*tensors) gives, called while a kernel is recorded."""
    got = []

    @nki.jit(target=target, precise_fp=precise)
    def kernel(*args):
        got.append(use(*args))

    kernel(*arrays)
    return got[0]


def refused(use, *arrays, target="trn2"):
    """The fault of a kernel that the default mode records."""
    in_kernel(use, *arrays, target=target, precise=True)
    with pytest.raises(trnemu.Fault) as caught:
        in_kernel(use, *arrays, target=target)
    return caught.value


@nki.jit
def softmax_of_product(a, b):
    """softmax(a.T @ b), every step in bfloat16."""
    assert a.dtype == nl.bfloat16 and str(b.dtype) == "bfloat16"
    ta, tb = nl.load(a), nl.load(b)
    product = nl.ndarray((ta.shape[1], tb.shape[1]), nl.float32, nl.psum)
    nisa.nc_matmul(dst=product, stationary=ta, moving=tb)
    x = nl.ndarray(product.shape, nl.bfloat16)
    nisa.tensor_copy(dst=x, src=product)
    top = nl.ndarray((x.shape[0], 1), nl.bfloat16)
    nisa.tensor_reduce(dst=top, op=nl.maximum, data=x, axis=1, negate=True)
    total = nl.ndarray((x.shape[0], 1), nl.float32)
    e = nl.ndarray(x.shape, nl.bfloat16)
    nisa.activation(dst=e, op=nl.exp, data=x, bias=top, reduce_op=nl.add,
                    reduce_res=total, reduce_cmd=nisa.reduce_cmd.reset_reduce)
    nisa.reciprocal(dst=total, data=total)
    nisa.tensor_scalar(dst=e, data=e, op0=nl.multiply, operand0=total)
    out = nl.ndarray(x.shape, nl.bfloat16, buffer=nl.shared_hbm)
    assert out.dtype == nl.bfloat16
    nl.store(out, e)
    return out


def reference(a, b):
    x = a.astype(F32).T @ b.astype(F32)
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def test_a_chain_in_bfloat16_is_that_in_float32():
    a, b = normal(64, 128), normal(64, 256, seed=1)
    wide = nki.simulate(softmax_of_product, precise_fp=False)(a, b)
    assert wide.dtype == F32
    np.testing.assert_allclose(wide, reference(a, b), rtol=2e-6, atol=1e-6)


def test_the_default_mode_rounds_as_bfloat16_does():
    a, b = normal(64, 128), normal(64, 256, seed=1)
    narrow = softmax_of_product(a, b)
    assert narrow.dtype == BF16
    error = np.abs(narrow.astype(F32) - reference(a, b)).max()
    # exp of a product of about 20, rounded to 2**-9 of it: 4 %
    assert 1e-3 < error < 5e-2


def test_the_environment_chooses_the_mode(monkeypatch):
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    a, b = normal(8, 16), normal(8, 32)
    assert softmax_of_product(a, b).dtype == F32


@pytest.mark.parametrize("dtype, bits", [
    (BF16, 8), (np.float16, 11), (ml_dtypes.float8_e4m3, 4),
    (ml_dtypes.float8_e5m2, 3)])
def test_a_sum_that_the_dtype_does_not_hold_is_kept(dtype, bits):
    @nki.jit
    def kernel(x):
        t = nl.load(x)
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=2.0**-20)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, t)
        return out

    x = np.ones((2, 4), dtype)
    wide = nki.simulate(kernel, precise_fp=False)(x)
    np.testing.assert_array_equal(wide, np.full((2, 4), 1 + 2.0**-20, F32))
    assert kernel(x).dtype == dtype and (kernel(x) == 1).all()
    assert bits < 20


def test_tfloat32_is_float32_with_views_both_ways():
    def look(x):
        t = nl.load(x)
        r = nl.ndarray(x.shape, nl.tfloat32)
        nisa.tensor_copy(dst=r, src=t)
        back, seen = r.view(nl.float32), t.view(nl.tfloat32)
        assert (r.dtype, back.dtype, seen.dtype) == (
            nl.tfloat32, nl.float32, nl.tfloat32)
        assert t.ap([[4, 2], [1, 4]], dtype=nl.tfloat32).dtype == nl.tfloat32
        return np.asarray(r), np.asarray(back), np.asarray(seen)

    x = np.full((2, 4), 1 + 2.0**-20, F32)
    for values in in_kernel(look, x):
        np.testing.assert_array_equal(values, x)


def test_an_argument_that_is_written_keeps_the_dtype_of_the_caller_s():
    @nki.jit(precise_fp=False)
    def third(x):
        t = nl.load(x)
        nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=1 / 3)
        nl.store(x, t)
        return x

    x = np.ones((2, 4), BF16)
    got = third(x)
    third_f32 = F32(1 / 3)
    assert got.dtype == F32 and (got == third_f32).all()
    assert x.dtype == BF16 and (x == third_f32.astype(BF16)).all()


def test_torch_tensors_come_back_as_float32():
    torch = pytest.importorskip("torch")
    a = torch.tensor(normal(8, 16, dtype=F32)).to(torch.bfloat16)
    got = nki.simulate(softmax_of_product, precise_fp=False)(a, a)
    assert got.dtype == torch.float32
    as_array = a.float().numpy()
    np.testing.assert_allclose(
        got.numpy(), reference(as_array, as_array), rtol=2e-6, atol=1e-6)


def test_constants_are_float32_under_the_declared_dtype():
    def look(x):
        c = nl.shared_constant(np.full((2, 2), 0.5, BF16))
        i = nl.shared_identity_matrix(2, nl.bfloat16)
        assert c.dtype == i.dtype == nl.bfloat16
        return np.asarray(c), np.asarray(i)

    c, i = in_kernel(look, normal(2, 2))
    assert c.dtype == i.dtype == F32
    np.testing.assert_array_equal(c, np.full((2, 2), 0.5))
    np.testing.assert_array_equal(i, np.eye(2))


def test_a_traced_program_has_float32_tensors():
    kernel = nki.simulate(softmax_of_product, precise_fp=False)
    program = nki.trace(
        kernel, nki.TensorSpec((8, 16), "bfloat16"), normal(8, 32))
    assert {str(d) for _, d in program.inputs.values()} == {"float32"}
    assert {str(d) for _, d in program.outputs.values()} == {"float32"}


def test_views_have_the_declared_dtype_and_its_bytes():
    def look(x):
        t = nl.load(x)
        views = (t[1:], t.reshape((4, 2, 4)), t.ap([[8, 4], [2, 4]]),
                 t.ap([[8, 4], [1, 8]], dtype=nl.bfloat16), x[0],
                 t.view(nl.bfloat16), t[:, 0:1].broadcast(1, 5),
                 x.permute((1, 0)))
        assert all(v.dtype == nl.bfloat16 for v in views)
        return t.nbytes, views[2].strides, views[2].shape, t.get_pattern()

    assert in_kernel(look, normal(4, 8)) == in_kernel(
        look, normal(4, 8), precise=True
    ) == (64, (8, 2), (4, 4), [[8, 4], [1, 8]])


@pytest.mark.parametrize("use", [
    lambda x: nl.load(x).view(nl.uint16),
    lambda x: nl.load(x).reinterpret_cast(nl.float32),
    lambda x: x.ap([[8, 4], [1, 8]], dtype=nl.int16),
    lambda x: nl.zeros((4, 8), nl.uint16).view(nl.bfloat16),
    lambda x: nl.zeros((4, 8), nl.float32).view(nl.float16),
    lambda x: nl.zeros((4, 8), nl.uint8).ap([[8, 4], [1, 8]],
                                            dtype=nl.float8_e4m3),
])
def test_bytes_of_narrow_floats_are_not_reinterpreted(use):
    fault = refused(use, normal(4, 8))
    assert (fault.category, fault.id) == ("unsupported", "nki.precise_fp")
    assert "stored as float32" in fault.message


def test_views_between_other_dtypes_are_as_ever():
    def look(x):
        return np.asarray(nl.load(x).view(nl.uint8))

    x = normal(4, 8, dtype=F32)
    np.testing.assert_array_equal(in_kernel(look, x), x.view(np.uint8))


def double_row(x):
    t, p = nl.load(x), nl.ndarray((16, 16), nl.float32, nl.psum)
    nisa.nc_matmul(dst=p, stationary=t, moving=t,
                   perf_mode=nisa.matmul_perf_mode.double_row)


def quantized(x):
    t = nl.load(x)
    q = nl.ndarray((32, 16), nl.float8_e4m3fn_x4)
    s = nl.ndarray((32, 16), nl.uint8)
    nisa.quantize_mx(dst=q, src=t, dst_scale=s)


def all_of_psum(x):
    """8192 of bfloat16 are the 16 KiB of a partition."""
    t, p = nl.load(x), nl.ndarray((4, 8192), nl.bfloat16, nl.psum)
    nisa.nc_matmul(dst=p, stationary=t[:, 0:4], moving=t)


@pytest.mark.parametrize("use, x, target", [
    (double_row, normal(8, 2, 16, dtype=ml_dtypes.float8_e5m2), "trn2"),
    (quantized, normal(32, 64), "trn3"),
    (all_of_psum, normal(4, 8192), "trn3"),
])
def test_an_operation_that_wants_narrow_floats_is_unsupported(use, x, target):
    fault = refused(use, x, target=target)
    assert (fault.category, fault.id) == ("unsupported", "nki.precise_fp")
    assert str(x.dtype) in fault.message and "precise_fp=True" in fault.remedy
    assert use.__name__ in fault.source


def test_what_the_device_refuses_is_refused_with_the_device_s_reason():
    def kernel(x):
        t = nl.load(x)
        nisa.tensor_tensor(dst=t, data1=t, data2=t[:, 0:4], op=nl.add)

    with pytest.raises(trnemu.Fault) as caught:
        in_kernel(kernel, normal(4, 8))
    assert caught.value.category == "illegal"
    assert "precise_fp" not in str(caught.value)
    assert "bfloat16" in str(caught.value)


def test_what_only_float32_could_do_is_refused_as_on_the_device():
    """A matmul of bfloat16 with float32."""

    def kernel(x):
        wide = nl.zeros((4, 8), nl.float32)
        p = nl.ndarray((8, 8), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=p, stationary=nl.load(x), moving=wide)

    for precise in (False, True):
        with pytest.raises(trnemu.Fault) as caught:
            in_kernel(kernel, normal(4, 8), precise=precise)
        assert caught.value.category == "illegal"
        assert "bfloat16" in str(caught.value)


def test_an_illegal_dtype_is_not_blamed_on_the_mode():
    def kernel(x):
        nisa.rng(dst=nl.load(x))

    with pytest.raises(trnemu.Fault) as caught:
        in_kernel(kernel, normal(4, 8))
    assert caught.value.id == "operand.dtype"
    assert "bfloat16" in caught.value.message


def test_what_fits_in_bfloat16_alone_says_that_it_is_the_mode():
    def kernel(x):
        t = nl.ndarray((4, 80000), nl.bfloat16)  # 160,000 bytes; 320,000
        for i in range(0, 80000, 10000):
            nisa.memset(dst=t[:, i:i + 10000], value=0)

    fault = refused(kernel, normal(4, 8))
    assert (fault.category, fault.id) == ("capacity", "allocate.sbuf")
    assert "precise_fp=False" in fault.message
    assert "precise_fp=True" in fault.remedy
    assert fault.operand == "t" and "kernel" in fault.source


def test_pinned_tiles_keep_their_partition_and_lie_apart():
    """Side by side as bfloat16, they would overlap as float32."""

    @nki.jit(precise_fp=False)
    def kernel(x):
        a = nl.ndarray((32, 8), nl.bfloat16, address=(32, 0))
        b = nl.ndarray((32, 8), nl.bfloat16, address=(32, 16))
        nisa.dma_copy(dst=a, src=x)
        nisa.tensor_scalar(dst=b, data=a, op0=nl.add, operand0=2.0**-20)
        assert (a.address, b[1:, 2:].address) == ((32, 0), (33, 20))
        c = nl.ndarray((32, 8), nl.bfloat16, address=(16, 0))
        with pytest.raises(trnemu.Fault, match="partition 16"):
            nisa.tensor_copy(dst=a, src=c)
        out = nl.ndarray((2, 32, 8), nl.bfloat16, buffer=nl.shared_hbm)
        nl.store(out[0], a)
        nl.store(out[1], b)
        return out

    x = np.ones((32, 8), BF16)
    np.testing.assert_array_equal(
        kernel(x), np.stack([np.ones((32, 8)), np.full((32, 8), 1 + 2.0**-20)]))


def test_two_cores_share_what_they_declare():
    @nki.jit(precise_fp=False)
    def halves(x):
        me, rows = nl.program_id(0), x.shape[0] // 2
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        t = nl.load(x[me * rows:(me + 1) * rows])
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=2.0**-20)
        nl.store(out[me * rows:(me + 1) * rows], t)
        return out

    got = halves[2](np.ones((8, 4), BF16))
    np.testing.assert_array_equal(got, np.full((8, 4), 1 + 2.0**-20, F32))


def test_print_shows_what_is_stored(capsys):
    def look(x):
        t = nl.load(x)
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=2.0**-10)
        print(t, t[:, nisa.register_alloc(1)])

    in_kernel(look, np.ones((1, 2), BF16))
    out = capsys.readouterr().out
    assert out.count("bfloat16 in sbuf") == 2
    assert out.count("1.0009765625") == 3


def test_time_is_not_simulated():
    kernel = nki.simulate(softmax_of_product, precise_fp=False)
    kernel(normal(8, 16), normal(8, 32))
    assert "not simulated" in kernel.result.summary()
