"""Corners that adversarial testing found, each with what the documents ask."""

import os

import numpy as np
import pytest
import trnemu


def one(build, dtype="float32", shape=(4, 8), **options):
    """Builds dst = build(b, dst, src) on a tile that holds 0, 1, 2, ..."""
    b = trnemu.ProgramBuilder(target="trn2")
    x, y = b.input("x", shape, dtype), b.output("y", shape, dtype)
    src, dst = b.sbuf(shape, dtype), b.sbuf(shape, dtype)
    b.dma_copy(dst=src, src=x)
    build(b, dst, src)
    b.dma_copy(dst=y, src=dst)
    data = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    return trnemu.run(b.build(), {"x": data}, **options)


@pytest.mark.parametrize("pattern", [[[2**31, 8]], [[2**32 + 1, 8]], [[-(2**31) - 1, 8]], [[1, -2], [1, -4]],
                                     [[1, 2**61 + 1], [1, 8]], [[1, 0]]])
def test_pattern_steps_are_int32_and_counts_at_least_one(pattern):
    b = trnemu.ProgramBuilder()
    with pytest.raises(trnemu.Fault) as info:
        b.iota(dst=b.sbuf((4, 8), "int32"), pattern=pattern)
    assert info.value.id == "iota.pattern_values"


def test_a_pattern_step_of_the_largest_int32_is_legal():
    b = trnemu.ProgramBuilder()
    b.iota(dst=b.sbuf((4, 8), "int32"), pattern=[[2**31 - 1, 8]])


@pytest.mark.parametrize("argument", ["scale", "bias"])
def test_nan_is_a_legal_immediate_of_activation(argument):
    r = one(lambda b, d, s: b.activation(dst=d, op="copy", data=s, **{argument: float("nan")}))
    assert np.isnan(r.outputs["y"]).all()


@pytest.mark.parametrize("dtype, amount", [("uint8", 8), ("uint8", 256), ("uint8", 257), ("uint16", 65536),
                                           ("int32", 32), ("uint32", 2**31)])
@pytest.mark.parametrize("op", ["left_shift", "right_shift"])
def test_a_shift_by_the_width_or_more_gives_zero(dtype, amount, op):
    r = one(lambda b, d, s: b.tensor_scalar(dst=d, data=s, op0=op, operand0=amount), dtype)
    np.testing.assert_array_equal(r.outputs["y"], 0)


def test_a_transfer_onto_its_own_source_is_unspecified():
    b = trnemu.ProgramBuilder()
    y = b.output("y", (8, 4), "float32")
    t = b.sbuf((8, 4), "float32")
    b.memset(dst=t, value=1.0)
    b.dma_copy(dst=t[1:], src=t[:-1])
    b.dma_copy(dst=y, src=t)
    p = b.build()
    assert [d.id for d in trnemu.run(p, {}).diagnostics] == ["dma_copy.overlap"]
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {}, strict=True)
    assert info.value.id == "dma_copy.overlap"


def test_interleaved_halves_of_a_tile_do_not_overlap():
    b = trnemu.ProgramBuilder()
    y = b.output("y", (8, 8), "float32")
    t = b.sbuf((8, 8), "float32")
    b.memset(dst=t, value=1.0)
    b.dma_copy(dst=t[:, 1::2], src=t[:, 0::2])
    b.dma_copy(dst=y, src=t)
    assert trnemu.run(b.build(), {}).diagnostics == []


def test_accumulators_that_nothing_reset_are_reported():
    def build(b, d, s):
        b.activation(dst=d, op="copy", data=s, reduce_op="add", reduce_res=d[:, 0:1])

    with pytest.raises(trnemu.Fault) as info:
        one(build)
    assert info.value.id == "activation.accumulator_unset"


def test_a_core_has_256_semaphores():
    for count in (256, 257):
        b = trnemu.ProgramBuilder(sync="explicit")
        for _ in range(count):
            b.semaphore()
        if count == 256:
            b.build()
            continue
        with pytest.raises(trnemu.Fault) as info:
            b.build()
        assert info.value.id == "semaphore.count"


def test_an_instruction_consumes_a_semaphore_once():
    b = trnemu.ProgramBuilder(sync="explicit")
    s, t = b.semaphore(), b.sbuf((4, 4), "float32")
    b.memset(dst=t, value=0, signal=[(s, 16)])
    wait = trnemu.Wait(s, 16, consume=True)
    b.memset(dst=t, value=1, wait=[wait, wait])
    with pytest.raises(trnemu.Fault) as info:
        b.build()
    assert info.value.id == "semaphore.wait"


def test_time_alone_leaves_inout_tensors_as_they_were():
    b = trnemu.ProgramBuilder()
    state, t = b.inout("state", (4, 4), "float32"), b.sbuf((4, 4), "float32")
    b.dma_copy(dst=t, src=state)
    b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    b.dma_copy(dst=state, src=t)
    e = trnemu.Device("trn2").load(b.build())
    e.run({"state": np.zeros((4, 4), np.float32)})
    e.run({"state": np.full((4, 4), 500, np.float32)}, values=False)
    assert (e.run({}).outputs["state"] == 2).all()


def test_an_unknown_id_to_allow_is_refused_with_the_nearest():
    with pytest.raises(trnemu.Fault) as info:
        one(lambda b, d, s: b.tensor_copy(dst=d, src=s), allow=["tensor_copy.shap"])
    assert info.value.id == "option.allow" and "tensor_copy.shape" in info.value.message


def test_saving_writes_through_a_link_and_into_a_pipe(tmp_path):
    p = trnemu.ProgramBuilder().build()
    real, link, pipe = tmp_path / "real.trn", tmp_path / "link.trn", tmp_path / "pipe"
    real.write_bytes(b"old")
    link.symlink_to(real)
    p.save(link)
    assert link.is_symlink() and trnemu.Program.load(real).num_instructions == 0
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    p.save(pipe)
    assert os.read(reader, 8) == b"TRNEMU\r\n" and pipe.is_fifo()
    os.close(reader)


def test_an_fp32_product_with_a_zero_one_operand_takes_less_time():
    def time(**hint):
        def build(b, d, s):
            sums = b.psum((128, 512), "float32")
            for _ in range(20):
                b.nc_matmul(dst=sums, stationary=s[:, 0:128], moving=s, **hint)
            b.tensor_copy(dst=d, src=sums)

        return one(build, shape=(128, 512)).time_ns

    assert time(is_moving_onezero=True) < 0.8 * time()
