"""The same program and inputs give the same bits, always and everywhere.

One program uses every family of operations and every dtype, on both sides of
PSUM, with NaN, infinities and subnormals among its inputs; the automatic
synchronisation orders it, so every schedule must agree. Its outputs have one
literal fingerprint, which debug, release, AVX2 and AVX-512 builds share.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import threading

import numpy as np
import pytest

import trnemu
import reference as ref
from kit import TARGETS, Kit

# SHA-256 over the outputs of mixed_program(), in order. Arithmetic decides it
# and no host does: a new value here is a new rule of numerics.
FINGERPRINTS = {
    "trn1":
        "16a0a60c802cd1435cc62515968889bc8aa6ee76d2b3d7dc4e460638af42a19d",
    "trn2":
        "12baf476802b4cfed558ef8c7c27a46ee66f514c5d3fe90bfbff26ee251d734a",
    "trn3":
        "8e59656d832ae36035776000141a489bbaca8889fd1f613e8157b9a2d91d24db",
}
SCALE = "float8_e8m0fnu"


def inputs_of(dtype: str, seed: int) -> ref.Array:
    x = ref.moderate(dtype, (128, 96), seed)
    x[:, ::8] = ref.samples(dtype, (128, 12), seed + 1)
    return x


def mixed_program(target: str) -> tuple[trnemu.Program, dict[str, ref.Array]]:
    k = Kit(target)
    data = {d: k.load(inputs_of(d, 1), d) for d in ref.ANY}
    plain = k.load(ref.moderate("float32", (128, 96), 3))
    outs = [*casts(k, data), *elementwise(k, data, plain)]
    outs += [*activations(k, data, plain), *reductions(k, data)]
    outs += [*matmuls(k, target), *transposes(k, data, target), *indices(k)]
    return k.build(*outs), k.inputs


def casts(k: Kit, data: dict[str, trnemu.View]) -> list[trnemu.View]:
    outs = []
    engines = itertools.cycle(["vector", "scalar", "gpsimd", "dma"])
    for x in data.values():
        for dtype in (*ref.ANY, SCALE):
            t, engine = k.empty(x.shape, dtype), next(engines)
            if engine == "dma":
                k.b.dma_copy(dst=t, src=x)
            else:
                k.b.tensor_copy(dst=t, src=x, engine=engine)
            outs.append(t)
    return outs


def elementwise(
    k: Kit, data: dict[str, trnemu.View], plain: trnemu.View
) -> list[trnemu.View]:
    outs = []
    column = plain[:, 5:6]
    for i, (dtype, x) in enumerate(data.items()):
        space = ("sbuf", "psum")[i % 2]
        for op in ref.BINARY:
            t = k.empty(x.shape, dtype, space)
            k.b.tensor_tensor(
                dst=t, data1=x, data2=plain, op=op, engine="vector"
            )
            outs.append(stored(k, t))
        t, u, v = (k.empty(x.shape) for _ in range(3))
        k.b.tensor_scalar(
            dst=t, data=x, op0="multiply", operand0=column, op1="add",
            operand1=0.1,
        )
        k.b.scalar_tensor_tensor(
            dst=u, data=x, op0="subtract", operand0=column, op1="multiply",
            operand1=plain, reverse0=True,
        )
        k.b.reciprocal(dst=v, data=x)
        outs += [t, u, v]
    for dtype in ref.INTS:
        for op in ref.BITWISE:
            t = k.empty((128, 96), dtype)
            k.b.tensor_tensor(
                dst=t, data1=data[dtype], data2=data[dtype], op=op
            )
            outs.append(t)
    for dtype, op in itertools.product(("int32", "uint32"), ref.BINARY):
        t = k.empty((128, 96), dtype)
        k.b.tensor_tensor(
            dst=t, data1=data[dtype], data2=data[dtype], op=op,
            engine="gpsimd",
        )
        outs.append(t)
    t, u = k.empty((128, 96)), k.empty((128, 96))
    k.b.tensor_tensor(dst=t, data1=data["float32"], data2=plain, op="power")
    k.b.tensor_scalar(dst=u, data=data["float32"], op0="rsqrt")
    return [*outs, t, u]


def stored(k: Kit, view: trnemu.View) -> trnemu.View:
    """The same in SBUF: PSUM is small, SBUF holds the outputs."""
    if view.buffer == "sbuf":
        return view
    t = k.empty(view.shape, str(view.dtype))
    k.b.tensor_copy(dst=t, src=view, engine="vector")
    return t


def activations(
    k: Kit, data: dict[str, trnemu.View], plain: trnemu.View
) -> list[trnemu.View]:
    outs = []
    bias = plain[:, 7:8]
    for op in ref.ACTIVATIONS:
        for x in (data["float32"], data["bfloat16"]):
            t, total = k.empty(x.shape), k.empty((128, 1))
            k.b.activation(
                dst=t, op=op, data=x, scale=0.75, reduce_op="add",
                bias=None if op == "reciprocal" else bias,
                reduce_cmd="reset_reduce", reduce_res=total,
            )
            outs += [t, total]
    return outs


def reductions(k: Kit, data: dict[str, trnemu.View]) -> list[trnemu.View]:
    outs = []
    for dtype, x in data.items():
        for op in ("add", "subtract", "multiply", "maximum", "minimum"):
            t = k.empty((128, 6))
            k.b.tensor_reduce(
                dst=t, op=op, data=x.reshape((128, 6, 16)), axis=2
            )
            outs.append(t)
        if dtype in ref.INTS:
            t = k.empty((128, 1), dtype)
            k.b.tensor_reduce(dst=t, op="bitwise_xor", data=x, axis=1)
            outs.append(t)
    return outs


def matmuls(k: Kit, target: str) -> list[trnemu.View]:
    outs = []
    dtypes = ["bfloat16", "float16", "float8_e4m3", "float8_e5m2",
              "tfloat32", "float32"]
    if target == "trn3":
        dtypes.append("float8_e4m3fn")
    for dtype in dtypes:
        a = [k.load(ref.moderate(dtype, (96, 50), s), dtype) for s in (4, 5)]
        b = [k.load(ref.moderate(dtype, (96, 70), s), dtype) for s in (6, 7)]
        bank = k.empty((50, 70), space="psum")
        for stationary, moving in zip(a, b):
            k.b.nc_matmul(dst=bank, stationary=stationary, moving=moving)
        outs.append(stored(k, bank))
    return outs


def transposes(
    k: Kit, data: dict[str, trnemu.View], target: str
) -> list[trnemu.View]:
    outs = []
    for x in data.values():
        t = k.empty((32, 32), str(x.dtype))
        k.b.nc_transpose(dst=t, data=x[32:64, :32], engine="vector")
        outs.append(t)
    for dtype in ("bfloat16", "float16", "float32"):
        dst = "float32" if target == "trn1" else dtype
        t = k.empty((96, 128), dst, "psum")
        k.b.nc_transpose(dst=t, data=data[dtype], engine="tensor")
        outs.append(stored(k, t))
    return outs


def indices(k: Kit) -> list[trnemu.View]:
    outs = []
    for dtype in ref.ANY:
        t, u, v = (k.empty((128, 24), dtype) for _ in range(3))
        k.b.iota(
            dst=t, pattern=[[100, 2], [-7, 3], [1, 4]], channel_multiplier=3
        )
        k.b.memset(dst=u, value=1)
        k.b.affine_select(
            dst=v, pattern=[[1, 24]], channel_multiplier=-1, offset=50,
            on_true_tile=t, on_false_value=1.5, cmp_op="greater",
        )
        outs += [t, u, v]
    return outs


def fingerprint(outputs: dict[str, ref.Array]) -> str:
    digest = hashlib.sha256()
    for i in range(len(outputs)):
        digest.update(outputs[f"out{i}"].tobytes())
    return digest.hexdigest()


built = functools.cache(mixed_program)
every_target = pytest.mark.parametrize("target", TARGETS)


@every_target
def test_the_mixed_program_has_its_fingerprint(target):
    program, inputs = built(target)
    assert program.num_instructions > 500
    outputs = trnemu.run(program, inputs).outputs
    assert fingerprint(outputs) == FINGERPRINTS[target]


SCHEDULES = [
    *itertools.product(["trn2"], ["timed", "program", *range(21)]),
    *itertools.product(["trn1", "trn3"], ["timed", "program", 0]),
]


@pytest.mark.parametrize(("target", "schedule"), SCHEDULES)
def test_every_schedule_gives_the_same_bits(target, schedule):
    program, inputs = built(target)
    outputs = trnemu.run(program, inputs, schedule=schedule).outputs
    assert fingerprint(outputs) == FINGERPRINTS[target]


@every_target
@pytest.mark.parametrize(
    "options", [{"time": False}, {"checks": "memory"}, {"checks": "off"},
                {"seed": 7}], ids=str,
)
def test_time_checks_and_seed_change_no_bit(target, options):
    program, inputs = built(target)
    outputs = trnemu.run(program, inputs, **options).outputs
    assert fingerprint(outputs) == FINGERPRINTS[target]


@every_target
def test_runs_of_one_loaded_program_repeat_bits_and_time(target):
    program, inputs = built(target)
    executable = trnemu.Device(target).load(program)
    runs = [executable.run(inputs) for _ in range(3)]
    assert {fingerprint(r.outputs) for r in runs} == {FINGERPRINTS[target]}
    assert len({r.time_ns for r in runs}) == 1


@every_target
def test_two_threads_with_a_device_each_give_the_same_bits(target):
    program, inputs = built(target)
    start, found = threading.Barrier(2), []

    def work() -> None:
        executable = trnemu.Device(target).load(program)
        start.wait()
        for _ in range(3):
            found.append(fingerprint(executable.run(inputs).outputs))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [FINGERPRINTS[target]] * 6


@every_target
def test_the_program_survives_its_text_and_its_file_bit_for_bit(
    target, tmp_path
):
    program, inputs = built(target)
    program.save(tmp_path / "mixed.trn")
    for again in (
        trnemu.Program.load(tmp_path / "mixed.trn"),
        trnemu.Program.from_text(program.to_text()),
    ):
        outputs = trnemu.run(again, inputs).outputs
        assert fingerprint(outputs) == FINGERPRINTS[target]
