"""Which tiles are live where and when: as data, as text and as a picture; and
the table of what does not fit, of program files too."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

import trnemu
from cli_kit import FAULT, SUCCESS, USAGE, trnemu as command
from kit import TARGETS

HERE = "test_memory_map.py"
SVG = "{http://www.w3.org/2000/svg}"
every_target = pytest.mark.parametrize("target", TARGETS)


def row(m: Any, name: str) -> dict[str, Any]:
    (found,) = [r for r in m.rows if r["name"] == name]
    return found


def chain(target: str = "trn2") -> trnemu.Program:
    """a is written at 0 and read at 1, b from 1 to 2, c at 2."""
    b = trnemu.ProgramBuilder(target=target, name="chain")
    a, m, c = (b.sbuf((128, n), "uint8", name=x)
               for x, n in (("a", 400), ("b", 200), ("c", 100)))
    b.memset(dst=a, value=1)
    b.tensor_copy(dst=m, src=a[:, :200])
    b.tensor_copy(dst=c, src=m[:, :100])
    return b.build()


@every_target
def test_a_tile_lives_from_its_first_to_its_last_instruction(target):
    m = chain(target).memory_map()
    assert [(r["name"], r["first"], r["last"]) for r in m.rows] == [
        ("a", 0, 1), ("b", 1, 2), ("c", 2, 2)]
    a = row(m, "a")
    assert (a["core"], a["buffer"], a["shape"]) == (0, "sbuf", (128, 400))
    assert (a["bytes"], a["start_partition"], a["pinned"]) == (400, 0, False)
    assert str(a["dtype"]) == "uint8" and HERE in a["source"]


def test_the_peak_is_where_most_bytes_live():
    (memory,) = chain().memory_map().memories
    assert (memory["peak"], memory["peak_at"]) == (600, 1)
    assert memory["limit"] == 229368  # decisions.md
    assert memory["limit_constant"] == "memory.sbuf_usable_partition_bytes"
    assert memory["limit_source"]


def test_bytes_that_pinned_tiles_share_count_once():
    b = trnemu.ProgramBuilder(target="trn2")
    one = b.sbuf((4, 100), "uint8", name="one", address=(0, 0))
    two = b.sbuf((4, 100), "uint8", name="two", address=(0, 60))
    for t in (one, two, one, two):
        b.memset(dst=t, value=0)
    (memory,) = b.build().memory_map().memories
    assert (memory["peak"], memory["end"]) == (160, 160)


def test_the_limit_is_that_of_the_target_asked_for():
    p = chain()
    assert p.memory_map("trn1").memories[0]["limit"] == 196608
    with pytest.raises(ValueError):
        p.memory_map("trn9")


def looped() -> trnemu.Program:
    b = trnemu.ProgramBuilder(target="trn2")
    total, step, spare = (b.sbuf((4, 8), "float32", name=n)
                          for n in ("total", "step", "spare"))
    b.memset(dst=total, value=0.0)
    b.memset(dst=spare, value=0.0)
    with b.fori_loop(0, 3):
        b.memset(dst=step, value=1.0)
        b.tensor_tensor(dst=total, data1=total, data2=step, op="add")
    b.tensor_copy(dst=spare, src=total)
    return b.build()


def test_a_tile_that_goes_round_a_loop_lives_in_all_of_it():
    m = looped().memory_map()
    total, step = row(m, "total"), row(m, "step")
    assert total["first"] == 0 and total["last"] == row(m, "spare")["last"]
    # written before it is read, in every iteration
    assert step["last"] == step["first"] + 1


def test_a_value_that_one_iteration_leaves_for_the_next_lives_all_the_loop():
    b = trnemu.ProgramBuilder(target="trn2")
    last, out = (b.sbuf((4, 8), "float32", name=n) for n in ("last", "out"))
    b.memset(dst=last, value=0.0)
    with b.fori_loop(0, 3):
        b.tensor_copy(dst=out, src=last)
        b.memset(dst=last, value=1.0)
        b.memset(dst=out, value=2.0)
        b.memset(dst=out, value=3.0)
    m = b.build().memory_map()
    assert row(m, "last")["last"] >= row(m, "out")["last"]


def test_a_tile_from_before_a_loop_lives_all_of_it_though_it_is_written_there():
    """The write may be of a part."""
    b = trnemu.ProgramBuilder(target="trn2")
    t, out = (b.sbuf((4, 8), "float32", name=n) for n in ("t", "out"))
    b.memset(dst=t, value=0.0)
    with b.fori_loop(0, 3):
        b.memset(dst=t[:, :4], value=1.0)
        b.tensor_copy(dst=out, src=t)
        b.memset(dst=out, value=2.0)
    m = b.build().memory_map()
    assert row(m, "t")["last"] > row(m, "out")["last"] - 1


def test_each_core_and_memory_has_its_own():
    b = trnemu.ProgramBuilder(target="trn2", cores=2)
    for core in range(2):
        with b.core(core):
            s, p = b.sbuf((4, 8), "float32"), b.psum((4, 8), "float32")
            b.memset(dst=s, value=0.0)
            b.memset(dst=p, value=0.0)
    m = b.build().memory_map()
    assert [(x["core"], x["buffer"]) for x in m.memories] == [
        (0, "sbuf"), (0, "psum"), (1, "sbuf"), (1, "psum")]


def test_a_program_without_tiles_has_an_empty_map():
    b = trnemu.ProgramBuilder(target="trn2")
    b.nop()
    m = b.build().memory_map()
    assert m.rows == [] and m.memories == []
    assert "no tiles" in str(m) and "no tiles" in m.to_svg()


# --- drawn -------------------------------------------------------------------


def test_the_text_shows_each_tile_by_a_letter():
    text = str(chain().memory_map())
    lines = [x for x in text.splitlines() if " |" in x]
    drawing = [x.split(" |")[1] for x in lines]
    # a takes instructions 0 and 1, b (above it) 1 and 2, c 2; 4 columns each
    assert drawing[-1] == "aaaaaaaa...."
    assert {"a", "b", "c"} <= set("".join(drawing))
    assert all(len(x) == 12 for x in drawing)
    assert re.search(r"a a +0 +400 +0 to 1", text)
    assert "limit 229368" in text and max(map(len, lines)) <= 80


def rectangles(svg: str) -> dict[str, dict[str, float]]:
    """By the first word of the tooltip, the tile's rectangle."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(SVG + "g"):
        title, rect = group.find(SVG + "title"), group.find(SVG + "rect")
        found[title.text.split()[0]] = {
            k: float(rect.get(k)) for k in ("x", "y", "width", "height")}
    return found


def test_the_picture_has_a_rectangle_for_each_tile():
    r = rectangles(chain().memory_map().to_svg())
    assert set(r) == {"a", "b", "c"}
    assert r["a"]["height"] == pytest.approx(2 * r["b"]["height"], rel=0.02)
    assert r["a"]["width"] == pytest.approx(2 * r["c"]["width"], rel=0.02)
    # b begins an instruction later, and lies above a
    assert r["b"]["x"] == pytest.approx(r["a"]["x"] + r["c"]["width"], rel=0.02)
    assert r["b"]["y"] + r["b"]["height"] <= r["a"]["y"] + 0.01


def test_the_picture_names_limit_and_peak_and_escapes_names():
    b = trnemu.ProgramBuilder(target="trn2", name="<a> & \"b\"")
    t = b.sbuf((4, 100000), "uint8", name="x<y>&z")
    b.memset(dst=t[:, :8], value=0)
    svg = b.build().memory_map().to_svg()
    ElementTree.fromstring(svg)
    assert "limit 229368" in svg and "peak 100000 bytes" in svg
    assert "x&lt;y&gt;&amp;z" in svg


@pytest.mark.parametrize("size, scale", [(100000, False), (115000, True)])
def test_a_limit_far_above_is_said_not_to_be_to_scale(size, scale):
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((4, size), "uint8")
    b.memset(dst=t[:, :8], value=0)
    assert ("not to scale" in b.build().memory_map().to_svg()) is not scale


def test_verify_writes_the_picture(tmp_path):
    path, svg = tmp_path / "k.trn", tmp_path / "k.svg"
    p = chain()
    p.save(path)
    r = command("verify", path, "--memory-map", svg)
    assert r.returncode == SUCCESS and "No findings" in r.stdout
    assert svg.read_text() == p.memory_map().to_svg()
    r = command("verify", path, "--memory-map", "-")
    assert r.returncode == SUCCESS
    assert str(p.memory_map()) in r.stdout
    r = command("verify", path, "--memory-map", tmp_path / "no" / "k.svg")
    assert r.returncode == USAGE and "no/k.svg" in r.stderr


def test_verify_gives_the_map_as_json(tmp_path):
    path = tmp_path / "k.trn"
    chain().save(path)
    r = command("verify", path, "--memory-map", "-", "--json")
    report = json.loads(r.stdout)
    tiles = report["memory_map"]["tiles"]
    assert [t["name"] for t in tiles] == ["a", "b", "c"]
    assert report["memory_map"]["memories"][0]["peak"] == 600
    assert report["memory_map"]["file"] is None
    assert "memory_map" not in json.loads(
        command("verify", path, "--json").stdout)


# --- what does not fit ---------------------------------------------------------


def moved(text: str, name: str, address: int) -> str:
    """The program's text with a tile at another byte."""
    new, n = re.subn(rf"(tensor \d+ {name} .* address=)\d+",
                     rf"\g<1>{address}", text)
    assert n == 1
    return new


def three() -> str:
    """Three tiles that live at the same time, as text: 888, 98568 and 512
    bytes per partition."""
    b = trnemu.ProgramBuilder(target="trn1", name="three")
    tiles = [b.sbuf((128, n), "uint8", name=f"t{i}")
             for i, n in enumerate((888, 98568, 512))]
    for t in tiles + tiles:
        b.memset(dst=t[:, :8], value=0)
    return b.build().to_text()


def test_a_file_with_a_tile_outside_lists_what_lives_with_it():
    text = three()
    legal = trnemu.Program.from_text(moved(text, "t2", 196608 - 512))
    assert legal.verify() == []
    p = trnemu.Program.from_text(moved(text, "t2", 196608 - 511))
    (finding,) = p.verify()
    assert (finding.category, finding.id) == ("capacity", "capacity.sbuf")
    d = json.loads(finding.to_json())["details"]
    assert d["limit"] == "196608 bytes per partition"
    assert d["limit constant"] == "memory.sbuf_usable_partition_bytes"
    assert d["limit source"]
    assert d["total"] == f"{888 + 98568 + 512} bytes per partition"
    names = [r.split()[0] for r in finding.related]
    assert names == ["t1", "t0", "t2"]  # biggest first
    assert "98568 bytes per partition" in finding.related[0]
    assert f"at byte {196608 - 511}" in finding.related[2]
    assert "(128, 888) uint8" in finding.related[1]
    assert all(HERE in r for r in finding.related)
    free = int(re.search(r"place it at byte (\d+)", finding.remedy)[1])
    again = trnemu.Program.from_text(moved(text, "t2", free))
    assert again.verify() == []
    rows = {r["name"]: r for r in again.memory_map().rows}
    for other in ("t0", "t1"):
        low, high = rows[other]["address"], rows["t2"]["address"]
        assert (low + rows[other]["bytes"] <= high
                or high + rows["t2"]["bytes"] <= low)


@pytest.mark.parametrize("address", [400000, 2**31, 2**32 - 1])
def test_a_tile_far_outside_is_refused_in_a_file(address, tmp_path):
    text = moved(three(), "t2", address)
    p = trnemu.Program.from_text(text)
    (finding,) = p.verify()
    assert finding.id == "capacity.sbuf" and str(address) in finding.message
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {})
    assert info.value.id == "capacity.sbuf"
    path = tmp_path / "far.trn"
    p.save(path)
    for line in (["verify", path], ["run", path]):
        assert command(*line).returncode == FAULT
    r = command("verify", path, "--memory-map", "-")  # drawn all the same
    assert r.returncode == FAULT and "t2" in r.stdout
    # t2 has 512 bytes in a partition of 196608.
    past = address + 512 - 196608
    assert f"which the highest tile exceeds by {past} bytes\n" in r.stdout
    assert "bytes above" not in r.stdout


def test_psum_of_a_file_has_its_own_limit():
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.psum((128, 512), "float32", name="bank")
    b.memset(dst=t, value=0.0)
    text = b.build().to_text()
    at = 16384 - 2048
    assert trnemu.Program.from_text(moved(text, "bank", at)).verify() == []
    (f,) = trnemu.Program.from_text(moved(text, "bank", at + 4)).verify()
    assert f.id == "capacity.psum"
    d = json.loads(f.to_json())["details"]
    assert d["limit"] == "16384 bytes per partition" and d["limit source"]
    assert "place it at byte 0" in f.remedy


def full(sizes: list[int], **pins: int) -> trnemu.Fault:
    b = trnemu.ProgramBuilder(target="trn1")
    tiles = []
    for i, n in enumerate(sizes):
        at = pins.get(f"t{i}")
        tiles.append(b.sbuf((128, n), "uint8", name=f"t{i}",
                            address=None if at is None else (0, at)))
    for t in tiles + tiles:
        b.memset(dst=t[:, :8], value=0)
    with pytest.raises(trnemu.Fault) as info:
        b.build()
    return info.value


def test_the_table_is_aligned_and_says_what_to_free():
    fault = full([888, 98568, 98568])
    columns = {r.index(" bytes per partition") for r in fault.related}
    assert len(columns) == 1
    assert [r.split()[1] for r in fault.related] == ["98568", "98568", "888"]
    assert "free 1416 bytes per partition" in fault.finding.remedy
    assert "98568" in fault.finding.remedy


def test_what_is_free_in_two_pieces_is_said():
    fault = full([100000, 64], t1=98304)
    assert "several pieces" in fault.finding.remedy
    assert any("at byte 98304, pinned" in r for r in fault.related)


def test_a_pinned_tile_outside_lists_the_tiles_of_its_memory():
    fault = full([64, 32], t1=400000)
    assert "pin it to byte 196576 at most" in fault.finding.remedy
    assert [r.split()[0] for r in fault.related] == ["t0", "t1"]
    assert "at byte 400000, pinned" in fault.related[1]


def test_more_tiles_than_a_table_holds_are_counted():
    fault = full([3000] * 70)
    assert len(fault.related) == 65
    last = re.fullmatch(r"and (\d+) more, (\d+) bytes per partition",
                        fault.related[-1])
    assert int(last[2]) == int(last[1]) * 3000
