"""Indirect views and what dma_copy asks of them: each rule at its limit and
one past it."""

from __future__ import annotations

import pytest

import trnemu
from rules_kit import Bench, every_target, legal, refused


def view(act, target="trn2"):
    """The id that making a view is refused with."""
    bench = Bench(target)
    with pytest.raises(trnemu.Fault) as info:
        act(bench)
    assert info.value.category == "illegal"
    assert info.value.source.split(":")[0].endswith("test_rules_dynamic.py")
    return info.value.id


def index(b: Bench, p=4, f=1, dtype="int32", **more):
    return b.sbuf(p, f, dtype, **more)


def gather(dtype="int32", p=4, f=1, rows=4, **more):
    def act(b: Bench):
        x = b.input((9, 8))
        src = x.ap([[8, rows], [1, 8]], vector_offset=index(b, p, f, dtype))
        b.b.dma_copy(dst=b.sbuf(rows, 8), src=src, **more)
    return act


def scatter(**more):
    def act(b: Bench):
        y = b.b.scratch("s", (9, 8), "float32")
        b.b.dma_copy(dst=y.vector_select(0, index(b)), src=b.sbuf(4, 8), **more)
    return act


def moved(side="src", dtype="int32", target_space="hbm", **more):
    def act(b: Bench):
        made = b.input((9, 8)) if target_space == "hbm" else b.sbuf(9, 8)
        if side == "dst" and target_space == "hbm":
            made = b.b.scratch("s", (9, 8), "float32")
        dim = 0 if target_space == "hbm" else 1
        one = made.select(dim, index(b, 1, 1, dtype))
        other = b.sbuf(1, one.size)
        b.b.dma_copy(**{side: one, "src" if side == "dst" else "dst": other},
                     **more)
    return act


@every_target
@pytest.mark.parametrize("mode", ["unknown", "swdge"])
@pytest.mark.parametrize("act", [gather, scatter])
def test_rows_are_software_descriptors(target, mode, act):
    p = legal(target, act(dge_mode=mode), run=act is gather)
    assert "swdge true" in p.to_text()
    assert "gpsimd #" in p.to_text()


@pytest.mark.parametrize("act", [gather, scatter])
def test_rows_are_no_other_descriptors(act):
    for target in ("trn2", "trn3"):
        refused(target, "dma_copy.hwdge_rows", act(dge_mode="hwdge"),
                operand="dge_mode")
    for target in ("trn1", "trn2", "trn3"):
        refused(target, "dma_copy.rows_mode", act(dge_mode="none"), "none",
                operand="dge_mode")
        for trigger in ("sync", "vector"):
            refused(target, "dma_copy.trigger", act(trigger=trigger), trigger)
        legal(target, act(trigger="gpsimd"), run=False)


@every_target
@pytest.mark.parametrize("rows", [True, False])
def test_rows_take_swdge_memory(target, rows):
    """A part of SBUF holds the descriptors: decisions.md."""
    usable = {"trn1": 196608, "trn2": 212984, "trn3": 245752}[target]
    plain = {"trn1": 196608, "trn2": 229368, "trn3": 262136}[target]
    size = usable if rows else plain
    for more in (0, 1):
        bench = Bench(target)
        if rows:
            gather()(bench)
        tile = bench.b.sbuf((1, size + more - 1024), "uint8",
                            address=(0, 1024))
        bench.b.memset(dst=tile[:, -8:], value=0)
        if not more:
            bench.b.build()
            continue
        with pytest.raises(trnemu.Fault) as info:
            bench.b.build()
        assert info.value.category == "capacity"


@every_target
def test_an_index_has_32_bits(target):
    for dtype in ("int32", "uint32"):
        legal(target, gather(dtype))
        legal(target, moved(dtype=dtype))
    for dtype in ("int16", "uint16"):
        refused(target, "operand.index_dtype", gather(dtype), operand="src")
        refused(target, "operand.index_dtype", moved(dtype=dtype))
        refused(target, "operand.index_dtype", moved("dst", dtype),
                operand="dst")


@every_target
def test_rows_have_an_index_a_partition(target):
    legal(target, gather(p=4))
    refused(target, "dma_copy.rows_index", gather(p=2, f=2))
    assert view(gather(p=3)) == "access.indirect_index"


@every_target
@pytest.mark.parametrize("side", ["src", "dst"])
@pytest.mark.parametrize("space", ["hbm", "sbuf"])
@pytest.mark.parametrize("mode", ["unknown", "none", "swdge", "hwdge"])
def test_a_single_index_is_legal_in_any_mode(target, side, space, mode):
    if mode == "hwdge" and target == "trn1":
        return
    legal(target, moved(side, target_space=space, dge_mode=mode), run=False)


def test_an_access_pattern_has_one_kind_of_offset():
    def both(b):
        b.input().ap([[8, 4], [1, 8]], scalar_offset=index(b, 1),
                     vector_offset=index(b))
    assert view(both) == "access.two_offsets"
    assert view(lambda b: b.input().ap([[8, 4], [1, 8]], indirect_dim=1)) == (
        "access.no_offset")


def test_views_refuse_what_has_no_meaning():
    hbm, tile = (lambda b: b.input((4, 8))), (lambda b: b.sbuf(4, 8))
    one = lambda b: index(b, 1)  # noqa: E731
    for make, id in (
        (lambda b: tile(b).vector_select(0, index(b)), "access.vector_select"),
        (lambda b: hbm(b).vector_select(1, index(b)), "access.vector_select"),
        (lambda b: hbm(b).vector_select(0, b.input((4, 1), "int32")),
         "access.indirect_index"),
        (lambda b: hbm(b).vector_select(0, index(b, dtype="float32")),
         "access.indirect_index"),
        (lambda b: hbm(b).vector_select(0, b.psum(4, 1, "int32")),
         "access.indirect_index"),
        (lambda b: tile(b).select(0, one(b)), "access.indirect_partition"),
        (lambda b: hbm(b).select(0, index(b)), "access.indirect_index"),
        (lambda b: hbm(b).select(0, one(b)).select(0, one(b)),
         "access.indirect_again"),
        (lambda b: hbm(b).vector_select(0, index(b))[1:],
         "access.indirect_dim"),
        (lambda b: hbm(b)[1:].ap([[8, 2], [1, 8]], scalar_offset=one(b)),
         "access.indirect_base"),
        (lambda b: hbm(b).indirect(index(b)), "access.indirect"),
    ):
        assert view(make) == id


def test_an_index_is_a_view_or_a_register():
    b = Bench()
    for wrong in ("r", 1.5, [1]):
        with pytest.raises(TypeError, match="View of one element or a Reg"):
            b.input().select(0, wrong)
    with pytest.raises(TypeError, match="vector_offset must be a View"):
        b.input().vector_select(0, 3)
    other = Bench()
    for act in (lambda: b.input().select(0, index(other, 1)),
                lambda: b.input().vector_select(0, index(other)),
                lambda: b.input().select(0, other.b.register_alloc(1))):
        with pytest.raises(trnemu.Fault) as info:
            act()
        assert info.value.id == "argument.builder"


@every_target
def test_rows_with_an_index_each_are_for_dma(target):
    def act(b: Bench):
        x = b.b.scratch("s", (4, 8), "float32")
        b.b.core_barrier(data=x.vector_select(0, index(b)), cores=(0, 1))
    refused(target, "operand.indirect", act, operand="data")


def test_a_matmul_cannot_write_at_a_dynamic_place():
    def act(b: Bench):
        dst = b.psum(4, (2, 8)).select(1, index(b, 1))
        b.b.nc_matmul(dst=dst, stationary=b.sbuf(4, 4), moving=b.sbuf(4, 8))
    refused("trn2", "operand.indirect", act, operand="dst")


def test_a_register_is_an_index():
    for target in ("trn1", "trn2", "trn3"):
        def act(b: Bench):
            r = b.b.register_alloc(2)
            b.b.dma_copy(dst=b.sbuf(1, 8), src=b.input((4, 8)).select(0, r))
            b.b.tensor_copy(dst=b.sbuf(4, 4),
                            src=b.sbuf(4, (3, 4)).select(1, r))
        p = legal(target, act)
        assert "@register r" in p.to_text()


# ---- indirect(): trn3 ----

def offsets(op="tensor_copy", side="src", at=0, p=16, start=0, f=1, n=16,
            space="sbuf", dst_space="sbuf", engine="vector", **more):
    """`side` of an operation is a view made by indirect()."""
    def act(b: Bench):
        data = b.tile(space, p, 32, start=start)
        dst = b.tile(dst_space, p, 32, start=start)
        tile = b.sbuf(p, f, "int32", start=at, fill=False)
        b.b.memset(dst=tile, value=0, engine="vector") if (
            at % 32 == 0) else None
        views = {"dst": dst[:, :n], "src": data[:, :n]}
        views[side] = (dst if side == "dst" else data).indirect(tile, n)
        b.b.tensor_copy(engine=engine, **views, **more)
    return act


@pytest.mark.parametrize("side", ["src", "dst"])
def test_indirect_is_of_trn3(side):
    legal("trn3", offsets(side=side), run=side == "src")
    for target in ("trn1", "trn2"):
        refused(target, "tensor_copy.indirect_generation", offsets(side=side),
                target)


def test_a_group_of_16_holds_16_offsets_a_column():
    legal("trn3", offsets(p=32, n=16))
    legal("trn3", offsets(p=32, f=2, n=32))
    refused("trn3", "operand.index_count", offsets(p=32, n=17), "17")
    # a group that is not whole has one row of them
    legal("trn3", offsets(p=8, n=8))
    refused("trn3", "operand.index_count", offsets(p=8, f=2, n=9), "9")


def test_an_index_starts_with_its_operand_on_a_quadrant():
    legal("trn3", offsets(start=32, at=32))
    refused("trn3", "tensor_copy.indirect_data_start", offsets(start=32, at=0))
    refused("trn3", "tensor_copy.indirect_data_index", offsets(start=0, at=48))
    refused("trn3", "tensor_copy.indirect_dst_index", offsets(side="dst",
                                                              at=48))
    refused("trn3", "tensor_copy.indirect_dst_start_sbuf",
            offsets(side="dst", at=32), "partition 0")
    legal("trn3", offsets(side="dst", at=32, space="psum"), run=False)


def test_the_scalar_engine_does_not_scatter_to_psum():
    legal("trn3", offsets(side="dst", dst_space="psum"), run=False)
    legal("trn3", offsets(side="dst", engine="scalar"), run=False)
    refused("trn3", "tensor_copy.indirect_dst_psum",
            offsets(side="dst", dst_space="psum", engine="scalar"))


def test_other_operands_cannot_be_indirect():
    def act(b: Bench):
        t = b.sbuf(16, 32)
        b.b.tensor_tensor(dst=b.sbuf(16, 16), data1=b.sbuf(16, 16),
                          data2=t.indirect(b.sbuf(16, 1, "int32")), op="add")
    refused("trn3", "tensor_tensor.indirect_data2", act, operand="data2")

    def none(b: Bench):
        t = b.sbuf(16, 32)
        b.b.memset(dst=t.indirect(b.sbuf(16, 1, "int32")), value=0)
    refused("trn3", "operand.indirect", none, operand="dst")
