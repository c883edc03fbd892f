"""What fits into SBUF, PSUM and HBM, at the limit and one past it."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import trnemu
from rules_kit import ANYX, SIZE, TARGETS, every_target

HERE = pathlib.Path(__file__).name
GIB = 2**30

# decisions.md, usable SBUF bytes per partition: without and with software
# descriptor generation. No reservation is known on trn1.
SBUF = {
    "trn1": (196608, 196608), "trn2": (229368, 212984),
    "trn3": (262136, 245752),
}
PSUM = 16384
# hardware.json: of a device, over its cores.
HBM = {"trn1": 32 * GIB // 2, "trn2": 96 * GIB // 8, "trn3": 144 * GIB // 8}


def tile(target: str, nbytes: int, buffer: str = "sbuf", swdge: bool = False,
         address: tuple[int, int] | None = None) -> trnemu.ProgramBuilder:
    b = trnemu.ProgramBuilder(target=target)
    make = b.sbuf if buffer == "sbuf" else b.psum
    t = make((2, nbytes), "uint8", address=address)
    b.memset(dst=t[:, :8], value=0)
    if swdge:
        b.dma_copy(dst=t[:, :4], src=b.input("x", (2, 4), "uint8"),
                   dge_mode="swdge")
    return b


def full(b: trnemu.ProgramBuilder) -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as info:
        b.build()
    assert info.value.category == "capacity"
    return info.value


@every_target
@pytest.mark.parametrize("swdge", [False, True])
def test_a_tile_may_fill_the_usable_bytes_of_sbuf(target, swdge):
    limit = SBUF[target][swdge]
    p = tile(target, limit, swdge=swdge).build()
    assert p.verify() == []
    fault = full(tile(target, limit + 1, swdge=swdge))
    assert fault.id in ("allocate.sbuf", "capacity.sbuf")
    for part in (str(limit), str(limit + 1), target, "sbuf"):
        assert part in fault.message
    assert HERE in fault.source


@every_target
def test_a_tile_may_fill_psum(target):
    tile(target, PSUM, "psum").build()
    fault = full(tile(target, PSUM + 1, "psum"))
    for part in (str(PSUM), str(PSUM + 1), target, "psum"):
        assert part in fault.message


@pytest.mark.parametrize(("smaller", "larger"), [("trn1", "trn2"),
                                                 ("trn2", "trn3")])
def test_verify_says_what_another_target_has_no_room_for(smaller, larger):
    p = tile(larger, SBUF[larger][0]).build()
    (finding,) = p.verify(smaller)
    assert (finding.category, finding.id) == ("capacity", "capacity.sbuf")
    assert str(SBUF[larger][0]) in finding.message
    assert str(SBUF[smaller][0]) in finding.message
    assert smaller in finding.message


def test_one_swdge_transfer_takes_its_reservation_from_every_tile():
    without, with_ = SBUF["trn2"]
    tile("trn2", with_ + 1).build()
    assert str(with_) in full(tile("trn2", without, swdge=True)).message


def several(target: str, sizes: list[int], buffer: str = "sbuf",
            together: bool = True) -> trnemu.ProgramBuilder:
    """uint8 tiles that live at the same time, or one after the other."""
    b = trnemu.ProgramBuilder(target=target)
    make = b.sbuf if buffer == "sbuf" else b.psum
    tiles = [make((2, n), "uint8", name=f"tile_{i}") for i, n in
             enumerate(sizes)]
    for t in tiles:
        b.memset(dst=t[:, :4], value=0)
    if together:
        for t in tiles:
            b.tensor_copy(dst=t[:, 4:8], src=t[:, :4])
    return b


@pytest.mark.parametrize("target", TARGETS)
def test_three_tiles_that_need_198024_bytes_do_not_fit_trn1(target):
    # cases/behaviours.md row 20: 888 + 98568 + 98568 > 196608
    b = several(target, [888, 98568, 98568])
    if target != "trn1":
        b.build()
        return
    fault = full(b)
    for part in ("198024", "196608", "trn1"):
        assert part in fault.message
    table = "\n".join(fault.related)
    for i, size in enumerate((888, 98568, 98568)):
        row = next(r for r in fault.related if f"tile_{i}" in r)
        assert f"{size} bytes" in row and HERE in row
    assert len(fault.related) == 3, table
    assert HERE in fault.source
    assert "198024" in str(fault) and "tile_0" in str(fault)


def test_the_same_tiles_fit_where_they_do_not_live_together():
    several("trn1", [888, 98568, 98568], together=False).build()


@every_target
def test_tiles_that_fill_sbuf_exactly_fit(target):
    limit = SBUF[target][0]
    several(target, [limit // 2 // 64 * 64, limit - limit // 2 // 64 * 64]
            ).build()
    half = limit // 2 // 64 * 64
    fault = full(several(target, [half, limit - half + 1]))
    assert str(limit + 1) in fault.message and str(limit) in fault.message


@every_target
def test_a_tile_at_byte_400000_is_refused(target):
    # cases/behaviours.md row 20
    fault = full(tile(target, 32, address=(0, 400000)))
    for part in ("400000", "32", str(SBUF[target][0]), target):
        assert part in fault.message
    assert HERE in fault.source


@every_target
@pytest.mark.parametrize("buffer", ["sbuf", "psum"])
def test_a_pinned_tile_ends_within_its_partition(target, buffer):
    limit = SBUF[target][0] if buffer == "sbuf" else PSUM
    at = limit - 64 if buffer == "psum" else (limit - 64) // 8 * 8
    size = limit - at
    tile(target, size, buffer, address=(0, at)).build()
    fault = full(tile(target, size + 1, buffer, address=(0, at)))
    for part in (str(at), str(limit), target):
        assert part in fault.message


# PSUM's banks


@every_target
def test_psum_has_eight_banks_of_2048_bytes(target):
    several(target, [2048] * 8, "psum").build()
    fault = full(several(target, [2048] * 9, "psum"))
    for part in ("psum", str(9 * 2048), str(PSUM), target):
        assert part in fault.message
    assert len(fault.related) == 9


@every_target
def test_a_tile_no_larger_than_a_bank_lies_in_one(target):
    # Tiles of 1200 bytes: one a bank, so eight of them fill PSUM.
    several(target, [1200] * 8, "psum").build()
    full(several(target, [1200] * 9, "psum"))
    # and two of 1024 share one
    several(target, [1024] * 16, "psum").build()
    full(several(target, [1024] * 17, "psum"))


def test_matmul_results_of_one_bank_each_fit_eight_times():
    b = trnemu.ProgramBuilder(target="trn2")
    st, mv = b.sbuf((4, 4), "bfloat16"), b.sbuf((4, 512), "bfloat16")
    b.memset(dst=st, value=0)
    b.memset(dst=mv, value=0)
    tiles = [b.psum((4, 512), "float32") for _ in range(8)]
    for t in tiles:
        b.memset(dst=t, value=0)
        b.nc_matmul(dst=t, stationary=st, moving=mv, accumulate=False)
    out = b.sbuf((4, 512), "float32")
    for t in tiles:
        b.tensor_copy(dst=out, src=t)
    assert b.build().verify() == []


# HBM


def full_of_hbm(b: trnemu.ProgramBuilder) -> trnemu.Fault:
    fault = full(b)
    assert fault.id == "capacity.hbm"
    assert HERE in fault.source
    return fault


@every_target
def test_the_tensors_of_a_program_fit_into_the_hbm_of_a_core(target):
    limit = HBM[target]

    def program(*sizes: int) -> trnemu.ProgramBuilder:
        b = trnemu.ProgramBuilder(target=target)
        b.memset(dst=b.sbuf((4, 8), "float32"), value=0)
        for i, n in enumerate(sizes):
            b.scratch(f"part_{i}", (n,), "uint8")
        return b

    assert program(limit).build().verify() == []
    program(limit - 5, 5).build()
    fault = full_of_hbm(program(limit + 1))
    for part in (str(limit), str(limit + 1), "part_0", target):
        assert part in fault.message
    fault = full_of_hbm(program(limit - 5, 4, 2))
    assert "part_2" in fault.message and str(limit + 1) in fault.message


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_two_cores_of_one_logical_core_share_the_hbm_of_both(target):
    # design, section 7
    def program(nbytes: int) -> trnemu.ProgramBuilder:
        b = trnemu.ProgramBuilder(target=target, cores=2)
        b.scratch("shared", (nbytes,), "uint8")
        for core in (0, 1):
            with b.core(core):
                b.memset(dst=b.sbuf((4, 8), "float32"), value=0)
        return b

    program(2 * HBM[target]).build()
    full_of_hbm(program(2 * HBM[target] + 1))


@every_target
def test_a_declared_tensor_of_a_terabyte_is_refused_and_reserves_nothing(
    target,
):
    b = trnemu.ProgramBuilder(target=target)
    x = b.input("x", (2**38,), "float32")
    t = b.sbuf((1, 8), "float32")
    b.dma_copy(dst=t, src=x[:8])
    fault = full_of_hbm(b)
    assert "x" in fault.message and str(2**40) in fault.message


def test_inputs_outputs_and_constants_count_too():
    b = trnemu.ProgramBuilder(target="trn1")
    b.memset(dst=b.sbuf((4, 8), "float32"), value=0)
    b.input("x", (8 * GIB,), "uint8")
    b.output("y", (8 * GIB,), "uint8")
    b.constant("c", np.zeros(1, np.uint8))
    assert "c" in full_of_hbm(b).message


# pinned tiles


@every_target
def test_what_is_read_as_one_pinned_tile_and_was_written_as_another_is_reported_unless_allowed(target):
    b = trnemu.ProgramBuilder(target=target)
    y = b.output("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32", address=(0, 1024))
    u = b.sbuf((4, 8), "uint32", address=(0, 1024))
    b.memset(dst=t, value=1.0)
    b.memset(dst=u, value=0x40000000)  # the bits of 2.0
    b.dma_copy(dst=y, src=t)
    p = b.build()
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(p, {})
    assert (fault.value.category, fault.value.id) == ("capacity", "memory.overwritten")
    # On purpose: the bytes are the same whatever they are called.
    r = trnemu.run(p, {}, allow=["memory.overwritten"])
    assert (r.outputs["y"] == 2.0).all()
    assert [d.id for d in r.diagnostics] == ["memory.overwritten"]


@every_target
def test_tiles_without_an_address_keep_clear_of_pinned_ones(target):
    b = trnemu.ProgramBuilder(target=target)
    y = b.output("y", (2, 4, 8), "float32")
    pinned = b.sbuf((4, 8), "float32", address=(0, 0))
    other = b.sbuf((4, 8), "float32")
    b.memset(dst=pinned, value=1.0)
    b.memset(dst=other, value=2.0)
    b.dma_copy(dst=y[0], src=pinned)
    b.dma_copy(dst=y[1], src=other)
    out = trnemu.run(b.build(), {}).outputs["y"]
    assert (out[0] == 1.0).all() and (out[1] == 2.0).all()


@every_target
def test_a_pinned_tile_takes_room_from_the_others(target):
    limit = SBUF[target][0]
    b = trnemu.ProgramBuilder(target=target)
    pinned = b.sbuf((4, 64), "uint8", address=(0, limit // 2 // 64 * 64))
    large = b.sbuf((4, limit - 64), "uint8")
    b.memset(dst=pinned, value=0)
    b.memset(dst=large[:, :64], value=0)
    b.tensor_copy(dst=large[:, :64], src=pinned)
    b.tensor_copy(dst=pinned, src=large[:, :64])
    fault = full(b)
    assert "one piece" in fault.message
    assert any("pinned" in row for row in fault.related)


@every_target
@pytest.mark.parametrize("buffer", ["sbuf", "psum"])
@pytest.mark.parametrize(
    ("start", "partitions", "fits"),
    [(0, 128, True), (96, 32, True), (96, 33, False), (100, 29, False),
     (127, 1, True), (128, 1, False)],
)
def test_a_pinned_tile_ends_within_128_partitions(
    target, buffer, start, partitions, fits
):
    b = trnemu.ProgramBuilder(target=target)
    make = b.sbuf if buffer == "sbuf" else b.psum
    if fits:
        make((partitions, 8), "float32", address=(start, 0))
        return
    with pytest.raises(trnemu.Fault) as info:
        make((partitions, 8), "float32", address=(start, 0))
    assert (info.value.id, info.value.category) == ("tile.partitions", "illegal")
    for part in (str(start), str(partitions), "128"):
        assert part in info.value.message


@every_target
@pytest.mark.parametrize("buffer", ["sbuf", "psum"])
def test_more_than_128_partitions_are_illegal_and_not_a_lack_of_room(
    target, buffer
):
    b = trnemu.ProgramBuilder(target=target)
    with pytest.raises(trnemu.Fault) as info:
        (b.sbuf if buffer == "sbuf" else b.psum)((130, 8), "float32")
    assert (info.value.id, info.value.category) == ("tile.partitions", "illegal")
    assert "130" in info.value.message and "128" in info.value.message


# alignment: decisions.md


def pinned_at(buffer: str, dtype: str, byte: int, target: str):
    b = trnemu.ProgramBuilder(target=target)
    make = b.sbuf if buffer == "sbuf" else b.psum
    t = make((4, 8), dtype, address=(0, byte))
    if dtype != "float8_e8m0fnu":
        b.memset(dst=t, value=0)
    return b


def unaligned(b: trnemu.ProgramBuilder, buffer: str) -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as info:
        b.build()
    assert info.value.category == "illegal"
    assert info.value.id == f"tile.{buffer}_alignment"
    return info.value


@every_target
@pytest.mark.parametrize("dtype", ANYX)
def test_an_sbuf_tile_starts_at_a_multiple_of_its_dtypes_size(target, dtype):
    if dtype == "float8_e8m0fnu":
        return
    size = SIZE[dtype]
    for byte in (0, size, 3 * size):
        assert pinned_at("sbuf", dtype, byte, target).build().verify() == []
    for byte in range(1, size):
        fault = unaligned(pinned_at("sbuf", dtype, byte, target), "sbuf")
        assert f"byte {byte}" in fault.message and str(size) in fault.message
        assert dtype in fault.message and HERE in fault.source


@every_target
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int16", "uint16"])
def test_a_psum_tile_of_two_byte_elements_starts_at_a_multiple_of_4(
    target, dtype
):
    # cases/behaviours.md row 36
    pinned_at("psum", dtype, 4, target).build()
    for byte in (2, 6):
        fault = unaligned(pinned_at("psum", dtype, byte, target), "psum")
        assert f"byte {byte}" in fault.message and "4" in fault.message
        assert dtype in fault.message


@every_target
def test_a_psum_tile_of_float32_starts_at_a_multiple_of_4(target):
    pinned_at("psum", "float32", 12, target).build()
    for byte in (1, 2, 3, 6):
        unaligned(pinned_at("psum", "float32", byte, target), "psum")


@every_target
def test_an_sbuf_slice_of_bfloat16_may_start_at_an_odd_element(target):
    # cases/behaviours.md row 36
    b = trnemu.ProgramBuilder(target=target)
    y = b.output("y", (4, 7), "bfloat16")
    t, u = b.sbuf((4, 8), "bfloat16"), b.sbuf((4, 8), "bfloat16")
    b.memset(dst=t, value=3.0)
    b.tensor_copy(dst=u[:, 1:8], src=t[:, 1:8])
    b.dma_copy(dst=y, src=u[:, 1:8])
    r = trnemu.run(b.build(), {})
    assert (r.outputs["y"].astype("float32") == 3.0).all()


@every_target
def test_tiles_without_an_address_are_aligned_by_the_allocator(target):
    b = trnemu.ProgramBuilder(target=target)
    tiles = []
    for make in (b.sbuf, b.psum):
        for dtype in ("uint8", "bfloat16", "float32", "uint8", "float16"):
            tiles.append(make((3, 3), dtype))
    for t in tiles:
        b.memset(dst=t, value=0)
    for t in tiles:
        b.memset(dst=t, value=1)
    assert b.build().verify() == []
