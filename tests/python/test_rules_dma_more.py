"""dma_transpose and dma_compute: each rule at its limit and one past it."""

from __future__ import annotations

import pytest

from rules_kit import ANY, ANYX, Bench, every_target, legal, refused

TYPES = ("uint16", "int16", "uint32", "int32", "float16", "bfloat16",
         "tfloat32", "float32")
new = pytest.mark.parametrize("target", ["trn2", "trn3"])


def transpose(shape=(16, 8), dtype="bfloat16", to=None, space="hbm",
              dst_dtype=None, dst_space="sbuf", **more):
    axes = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}.get(len(shape))
    to = to or tuple(shape[i] for i in axes)

    def act(b: Bench):
        src = (b.input(shape, dtype) if space == "hbm"
               else b.tile(space, shape[0], shape[1:], dtype))
        dst = b.tile(dst_space, to[0], to[1:], dst_dtype or dtype)
        b.b.dma_transpose(dst=dst, src=src, **more)
    return act


def rows(shape=(16, 8), dtype="bfloat16", index=(16, 1), kind="uint32",
         to=None, **more):
    """A transpose of rows with an index each."""
    axes = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}[len(shape)]
    to = to or tuple(shape[i] for i in axes)

    def act(b: Bench):
        x = b.input((9, *shape[1:]), dtype)
        at = b.sbuf(index[0], index[1:], kind)
        steps, size = [], 1
        for n in reversed(shape):
            steps.insert(0, [size, n])
            size *= n
        b.b.dma_transpose(dst=b.sbuf(to[0], to[1:], dtype),
                          src=x.ap(steps, vector_offset=at), **more)
    return act


@every_target
@pytest.mark.parametrize("dtype", TYPES)
def test_transposes_of_2_and_4_bytes(target, dtype):
    legal(target, transpose(dtype=dtype))
    refused(target, "dma_transpose.dtype",
            transpose(dtype=dtype, dst_dtype="int32" if dtype != "int32"
                      else "float32"), dtype)


@every_target
@pytest.mark.parametrize("dtype", sorted(set(ANYX) - set(TYPES)))
def test_no_other_dtype_is_transposed(target, dtype):
    refused(target, "operand.dtype", transpose(dtype=dtype), dtype)


@every_target
def test_transposes_write_on_chip_and_read_anywhere(target):
    for space in ("hbm", "sbuf"):
        legal(target, transpose(space=space))
    for more in ({"space": "psum"}, {"dst_space": "psum"}):
        p = legal(target, transpose(**more))
        assert [f.id for f in p.verify(layers=["api"])] == [
            "dma_transpose.psum"]

    def to_hbm(b: Bench):
        b.b.dma_transpose(dst=b.output((8, 16)), src=b.input((16, 8)))
    refused(target, "operand.buffer", to_hbm, "hbm", operand="dst")


@every_target
def test_the_axes_of_a_rank(target):
    for shape, axes in (((3, 2), (1, 0)), ((3, 2, 4), (2, 1, 0)),
                        ((3, 2, 4, 5), (3, 1, 2, 0))):
        legal(target, transpose(shape))
        legal(target, transpose(shape, axes=axes))
        legal(target, transpose(shape, axes=list(axes)))
    for axes in ((0, 1), (1, 0, 2), (2, 0, 1), (3, 2, 1, 0), (0,), ()):
        refused(target, "dma_transpose.axes", transpose(axes=axes),
                operand="axes")
    refused(target, "dma_transpose.axes_rank", transpose(axes=(2, 1, 0)),
            "(16, 8)")
    refused(target, "dma_transpose.src_rank",
            transpose((16,), to=(16, 1)), "(16,)", operand="src")
    refused(target, "dma_transpose.src_rank",
            transpose((2, 2, 2, 2, 2), to=(2, 2, 2, 2, 2)), operand="src")


@every_target
def test_dst_has_the_permuted_shape(target):
    legal(target, transpose((16, 8), to=(8, 16)))
    refused(target, "dma_transpose.shape", transpose((16, 8), to=(16, 8)),
            "(16, 8)")
    refused(target, "dma_transpose.shape", transpose((16, 8), to=(8, 15)))
    refused(target, "dma_transpose.rank", transpose((16, 8), to=(8, 4, 4)))
    # dimensions of size 1 are dimensions
    legal(target, transpose((1, 1, 8), to=(8, 1, 1)))
    refused(target, "dma_transpose.rank", transpose((1, 1, 8), to=(8, 1)))


@every_target
def test_priority_of_a_transpose(target):
    legal(target, transpose(priority=None))
    for priority in (0, 3):
        if target == "trn3":
            legal(target, transpose(priority=priority))
        else:
            refused(target, "dma_transpose.priority",
                    transpose(priority=priority), target)
    for priority in (-1, 4):
        refused(target, "dma_transpose.priority", transpose(priority=priority))


def test_hwdge_transposes():
    refused("trn1", "dma_transpose.hwdge", transpose(dge_mode="hwdge"), "trn1")
    for target in ("trn2", "trn3"):
        legal(target, transpose((16, 128), dge_mode="hwdge"))
        refused(target, "dma_transpose.hwdge",
                transpose((16, 8), "float32", dge_mode="hwdge"), "float32")
        refused(target, "dma_transpose.hwdge",
                transpose((16, 2, 129), to=(128, 2, 16), dge_mode="hwdge"))
        for first in (15, 17, 32):
            refused(target, "dma_transpose.hwdge_2d",
                    transpose((first, 8), dge_mode="hwdge"), str(first))
        for shape in ((1, 16, 4), (2, 8, 4), (4, 4, 4), (8, 2, 4), (16, 1, 4),
                      (2, 3, 8, 4), (1, 1, 16, 4)):
            legal(target, transpose(shape, dge_mode="hwdge"))
        for shape in ((3, 16, 4), (32, 1, 4), (2, 7, 4), (2, 8, 3, 4)):
            refused(target, "dma_transpose.hwdge_3d",
                    transpose(shape, dge_mode="hwdge"))
        for trigger in ("sync", "scalar"):
            legal(target, transpose(dge_mode="hwdge", trigger=trigger))
        refused(target, "dma_transpose.trigger",
                transpose(dge_mode="hwdge", trigger="vector"))


@every_target
def test_swdge_and_skip_are_for_dynamic_sources(target):
    legal(target, transpose(dge_mode="none"))
    refused(target, "dma_transpose.swdge", transpose(dge_mode="swdge"))
    refused(target, "dma_transpose.skip", transpose(oob_mode="skip"))

    def shifted(b: Bench):
        x = b.input((3, 16, 8), "bfloat16").select(0, b.sbuf(1, 1, "int32"))
        b.b.dma_transpose(dst=b.sbuf(8, 16, "bfloat16"), src=x,
                          oob_mode="skip", dge_mode="swdge")
    legal(target, shifted)


@every_target
def test_queues_of_a_transpose(target):
    for queues in (1, 16):
        legal(target, transpose(queues=queues))
    for queues in (0, 17):
        refused(target, "dma_transpose.queues", transpose(queues=queues))


def test_rows_are_transposed_on_trn2_and_trn3():
    refused("trn1", "dma_transpose.rows_mode", rows(), "trn1")
    for target in ("trn2", "trn3"):
        for mode in ("unknown", "swdge"):
            assert "swdge true" in legal(target, rows(dge_mode=mode)).to_text()
        for mode in ("none",):
            refused(target, "dma_transpose.rows_mode", rows(dge_mode=mode))
        refused(target, "dma_transpose.trigger", rows(trigger="sync"))


@new
def test_rows_are_multiples_of_16_of_at_most_128_elements(target):
    legal(target, rows((16, 128)))
    refused(target, "dma_transpose.rows", rows((16, 2, 129), to=(128, 2, 16)))
    refused(target, "dma_transpose.rows", rows((8, 8)))
    refused(target, "dma_transpose.rows", rows((16, 8), "float32"))
    legal(target, rows((16, 1, 3, 4)))
    legal(target, rows((16, 3, 1, 4)))
    refused(target, "dma_transpose.rows_4d", rows((16, 2, 3, 4)))


@new
def test_the_index_of_rows(target):
    refused(target, "dma_transpose.rows_index", rows(kind="int32"), "uint32")
    refused(target, "dma_transpose.rows_index", rows(index=(16, 1, 1)))
    for partitions in (16, 32, 128):
        legal(target, rows(index=(partitions, 1)))
    refused(target, "dma_transpose.rows_index_shape", rows(index=(17, 1)))
    legal(target, rows((256, 8), index=(128, 2)))
    refused(target, "dma_transpose.rows_index_shape", rows(index=(64, 2)))
    assert "fewer" not in str(refused(
        target, "access.indirect_index", rows((32, 8), index=(16, 1))))


# ---- dma_compute ----

def add(*srcs, dst=("sbuf", (4, 8), "float32"), **more):
    more.setdefault("reduce_op", "add")

    def act(b: Bench):
        def make(space, shape, dtype, out=False):
            if space == "hbm":
                return (b.output if out else b.input)(shape, dtype)
            return b.tile(space, shape[0], shape[1:], dtype)
        b.b.dma_compute(dst=make(*dst, out=True),
                        srcs=[make(*s) for s in srcs], **more)
    return act


F32 = ("sbuf", (4, 8), "float32")


@every_target
@pytest.mark.parametrize("space", ["hbm", "sbuf"])
@pytest.mark.parametrize("dtype", ANY)
def test_sums_of_any_dtype(target, space, dtype):
    legal(target, add((space, (4, 8), dtype), F32))
    legal(target, add(F32, dst=(space, (4, 8), dtype)))


@every_target
@pytest.mark.parametrize("dtype", sorted(set(ANYX) - set(ANY)))
def test_packed_types_have_no_sum(target, dtype):
    refused(target, "operand.dtype", add(("hbm", (4, 8), dtype)), dtype)


@every_target
def test_1_to_16_sources(target):
    for count in (1, 2, 16):
        legal(target, add(*[F32] * count))
    refused(target, "argument.missing", add())
    refused(target, "argument.count", add(*[F32] * 17), "17")
    legal(target, add(("hbm", (32,), "float32"), ("hbm", (8, 4), "float32")))
    for wrong in (("sbuf", (4, 7), "float32"), ("sbuf", (5, 8), "float32")):
        refused(target, "dma_compute.size", add(F32, wrong), "32")


@every_target
def test_only_unscaled_sums(target):
    for op in ("multiply", "maximum", "subtract"):
        refused(target, "dma_compute.reduce_op", add(F32, reduce_op=op), op)
    for scales in (None, [1.0], [1], (1.0,)):
        legal(target, add(F32, scales=scales))
    for scales in ([], (1.0, 1.0)):
        refused(target, "dma_compute.scales_count", add(F32, scales=scales))
    refused(target, "dma_compute.scales", add(F32, F32, scales=[1.0, 2.0]), "2")


@every_target
def test_a_sum_in_psum_is_legal_on_the_device(target):
    psum = ("psum", (4, 8), "float32")
    for act in (add(psum, F32), add(F32, dst=psum)):
        p = legal(target, act)
        assert [f.id for f in p.verify(layers=["api"])] == ["dma_compute.psum"]


def into_rows(other=True, same=True, sources=2, dst_rows=True, **more):
    """dst[idx] += src, or dst += src[idx]."""
    def act(b: Bench):
        y = b.b.scratch("s", (9, 8), "float32")
        b.b.dma_copy(dst=y, src=b.sbuf(9, 8))
        at = b.sbuf(4, 1, "int32")
        moving, fixed = y.vector_select(0, at), b.sbuf(4, 8)
        dst = moving if dst_rows else fixed
        first = dst if same else b.sbuf(4, 8)
        srcs = [first, fixed if dst_rows else moving, *[fixed] * 16]
        b.b.dma_compute(dst=dst, srcs=srcs[:sources], reduce_op="add", **more)
    return act


@every_target
@pytest.mark.parametrize("dst_rows", [True, False])
def test_sums_of_rows(target, dst_rows):
    for mode in ("error", "skip"):
        p = legal(target, into_rows(dst_rows=dst_rows, oob_mode=mode), False)
        assert "swdge true" in p.to_text()
    legal(target, into_rows(dst_rows=dst_rows, trigger="gpsimd"), False)
    refused(target, "dma_compute.trigger",
            into_rows(dst_rows=dst_rows, trigger="sync"))
    refused(target, "dma_compute.rows", into_rows(dst_rows=dst_rows, sources=3))
    refused(target, "dma_compute.rows",
            into_rows(dst_rows=dst_rows, unique_indices=False), "False")
    refused(target, "dma_compute.same_tensor",
            into_rows(dst_rows=dst_rows, same=False))
    if dst_rows:
        refused(target, "dma_compute.rows", into_rows(sources=1))


@every_target
def test_without_rows_addresses_are_static(target):
    refused(target, "dma_compute.skip", add(F32, oob_mode="skip"))
    legal(target, add(F32, unique_indices=False))

    def shifted(b: Bench):
        x = b.input((3, 4, 8)).select(0, b.sbuf(1, 1, "int32"))
        b.b.dma_compute(dst=b.sbuf(4, 8), srcs=[x], reduce_op="add")
    refused(target, "dma_compute.static", shifted)
    for queues in (1, 16):
        legal(target, add(F32, queues=queues))
    for queues in (0, 17):
        refused(target, "dma_compute.queues", add(F32, queues=queues))
