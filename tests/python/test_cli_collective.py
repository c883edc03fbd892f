"""trnemu collective, and trnemu.collective: the cost of collectives."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

import trnemu as package
from cli_kit import SUCCESS, USAGE, refuses, trnemu
from json_schema import validate

# NCCL's tests, doc/PERFORMANCE.md: busbw / algbw of n ranks.
FACTORS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1,
    "collective_permute": lambda n: 1,
    "collective_permute_implicit": lambda n: 1,
    "collective_permute_implicit_reduce": lambda n: 1,
    "send_recv": lambda n: 1,
}


def measured(*arguments):
    result = trnemu("collective", *arguments, "--json")
    assert result.returncode == SUCCESS, result.stdout + result.stderr
    report = json.loads(result.stdout)
    validate(report)
    return report


@pytest.mark.parametrize("operation", FACTORS)
def test_bandwidths_are_those_of_ncclstests(operation):
    n = 2 if operation == "send_recv" else 8
    report = measured(operation, "--ranks", 8, "--size", "64KiB,1MiB")
    assert report["group_size"] == n
    assert report["bus_factor"] == pytest.approx(FACTORS[operation](n))
    for row, size in zip(report["rows"], (1 << 16, 1 << 20), strict=True):
        assert row["size"] == row["bytes"] == size
        # Bytes a ns are GB/s.
        assert row["algbw"] == pytest.approx(size / row["time_ns"])
        assert row["busbw"] == pytest.approx(
            size / row["time_ns"] * FACTORS[operation](n))
        assert row["max_error"] is None


@pytest.mark.parametrize("operation", [*FACTORS, "collective_barrier"])
@pytest.mark.parametrize("memory", ["hbm", "sbuf"])
def test_every_operation_passes_its_check(operation, memory):
    hbm_only = {"all_to_all": "collective.hbm",
                "collective_permute": "collective.hbm",
                "collective_barrier": "operand.buffer"}
    if memory == "sbuf" and operation in hbm_only:
        refuses(trnemu("collective", operation, "--ranks", 4, "--size", "1KiB",
                       "--memory", "sbuf"), 1, hbm_only[operation])
        return
    for more in ((), ("--streams", 2), ("--op", "max")):
        report = measured(operation, "--ranks", 8, "--size", "3000,64KiB",
                          "--dtype", "fp32", "--memory", memory, "--check",
                          *more)
        for row in report["rows"]:
            assert row["max_error"] <= row["error_bound"], (operation, row)
            if "max" in more or not operation.endswith("reduce"):
                if operation != "reduce_scatter":
                    assert row["max_error"] == 0


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16", "fp8"])
def test_the_largest_error_is_that_of_rounding(dtype):
    """8 numbers of at most 1: a sum below 8, rounded up to 7 times and once
    more to fp32, each by half of a last place of at most 4 or 8."""
    bits = {"fp32": 24, "bf16": 8, "fp16": 11, "fp8": 4}[dtype]
    for algorithm in ("ring", "mesh", "single_step_mesh", "kangaring"):
        (row,) = measured("all_reduce", "--ranks", 8, "--size", "64KiB",
                          "--dtype", dtype, "--algorithm", algorithm,
                          "--check")["rows"]
        assert row["algorithm"] == algorithm
        assert 0 < row["max_error"] <= 8 * 2 * 8 * 2.0**-bits, algorithm


def test_sizes_are_rounded_up_to_what_the_ranks_can_share():
    # 24 ranks and bf16: multiples of 48 bytes; 3000 is none, 3024 the next.
    (row,) = measured("all_gather", "--ranks", 24, "--size", 3000)["rows"]
    assert (row["size"], row["bytes"]) == (3000, 3024)
    (row,) = measured("all_reduce", "--ranks", 24, "--size", 3001)["rows"]
    assert (row["size"], row["bytes"]) == (3001, 3002)


def test_the_text_has_the_same_figures_in_aligned_columns():
    arguments = ("all_reduce", "--ranks", 16, "--size", "1KiB:1GiB:32")
    report = measured(*arguments)
    text = trnemu("collective", *arguments).stdout
    head, table = text.split("\n\n")
    for word in ("all_reduce (add)", "bfloat16", "16 ranks (lnc 2) on 4 chips",
                 "2 (n - 1) / n = algbw x 1.875", "10^9", "Simulated"):
        assert word in head
    lines = table.splitlines()
    columns = re.split(r"  +", lines[0].strip())
    assert columns == ["size", "bytes", "algorithm", "steps", "time us",
                       "algbw GB/s", "busbw GB/s", "HBM bytes", "link bytes"]
    assert len(lines) == 1 + len(report["rows"])
    assert {line.index("  ", len(line) - 20) > 0 for line in lines} == {True}
    for line, row in zip(lines[1:], report["rows"], strict=True):
        cells = re.split(r"  +", line.strip())
        assert int(cells[1]) == row["bytes"]
        assert cells[2] == row["algorithm"]
        assert int(cells[3]) == row["steps"]
        assert float(cells[4]) == pytest.approx(row["time_ns"] / 1e3, abs=6e-4)
        assert float(cells[6]) == pytest.approx(row["busbw"], abs=6e-4)
        assert int(cells[7]) == row["hbm_read_bytes"] + row["hbm_write_bytes"]
        assert int(cells[8]) == row["link_bytes"]
    assert len({len(line) for line in lines}) == 1


def test_all_algorithms_stand_side_by_side_and_the_fastest_is_said():
    arguments = ("all_gather", "--ranks", 16, "--size", "4KiB:64MiB:4",
                 "--algorithm", "all")
    report = measured(*arguments)
    times = {}
    for row in report["rows"]:
        times.setdefault(row["bytes"], {})[row["asked"]] = row["time_ns"]
    names = {"auto", "ring", "mesh", "rdh", "kangaring"}
    assert all(set(t) == names for t in times.values())
    ranges = report["fastest"]
    assert ranges[0]["from"] == 4 << 10 and ranges[-1]["to"] == 64 << 20
    for one in ranges:
        assert one["from"] <= one["to"]
        for size, of in times.items():
            if one["from"] <= size <= one["to"]:
                forced = {a: t for a, t in of.items() if a != "auto"}
                assert of[one["algorithm"]] == min(forced.values())
    for before, after in zip(ranges, ranges[1:]):
        assert before["to"] < after["from"]
        assert before["algorithm"] != after["algorithm"]
    # What auto takes is one of them, and takes as long.
    for row in report["rows"]:
        if row["asked"] == "auto":
            assert row["time_ns"] == times[row["bytes"]][row["algorithm"]]
    text = trnemu("collective", *arguments).stdout
    for before, after in zip(ranges, ranges[1:]):
        assert (f"crossover:    {before['algorithm']} -> {after['algorithm']} "
                "between ") in text
    assert "documented:   mesh below 1 MiB, rdh up to 56 MiB" in text


def test_larger_buffers_take_longer_whatever_the_algorithm():
    for algorithm in ("ring", "mesh", "rdh", "kangaring"):
        rows = measured("all_reduce", "--ranks", 16, "--size", "64KiB:256MiB:8",
                        "--algorithm", algorithm)["rows"]
        times = [row["time_ns"] for row in rows]
        assert times == sorted(times)


def test_groups_are_side_by_side():
    both = measured("all_reduce", "--ranks", 8, "--group", "0,1,2,3;4,5,6,7",
                    "--size", "64KiB")
    assert (both["groups"], both["group_size"]) == (2, 4)
    same = measured("all_reduce", "--ranks", 8, "--group-size", 4,
                    "--size", "64KiB")
    assert both["rows"] == same["rows"]
    one = measured("all_reduce", "--ranks", 8, "--group", "0,1,2,3",
                   "--size", "64KiB")
    # Each on a chip of its own, so that they do not disturb each other.
    assert both["rows"][0]["time_ns"] == one["rows"][0]["time_ns"]
    assert both["rows"][0]["moves"] == 2 * one["rows"][0]["moves"]
    measured("all_reduce", "--ranks", 8, "--group", "6,1", "--size", "64KiB",
             "--check")


def test_bytes_on_links_are_those_of_the_plan():
    # A rank sends all its data to its neighbour in the group, over a link each
    # from chip to chip: ranks 0 and 4 are on chips 0 and 1, and back.
    (row,) = measured("collective_permute", "--ranks", 8, "--group", "0,4",
                      "--size", "1MiB")["rows"]
    assert row["link_bytes"] == 2 << 20
    assert row["hbm_read_bytes"] == row["hbm_write_bytes"] == 2 << 20
    (row,) = measured("collective_permute", "--ranks", 8, "--group", "0,1",
                      "--size", "1MiB")["rows"]
    assert row["link_bytes"] == 0


def test_a_failed_link_is_named_and_gone_round():
    """Ranks 0 and 4 are on chips 0 and 1; without their link the shortest way
    has three: two more latencies of 100 ns, and three times the bytes."""
    ring = ("collective_permute", "--group", "0,4", "--size", "1MiB")
    whole = measured(*ring)
    broken = measured(*ring, "--fail-link", "0-1")
    assert set(broken["system"]["failed_links"]) == {
        "chip 0 > chip 1", "chip 1 > chip 0"}
    (a,), (b,) = whole["rows"], broken["rows"]
    assert b["link_bytes"] == 3 * a["link_bytes"] == 6 << 20
    assert b["time_ns"] == pytest.approx(a["time_ns"] + 200)
    four = ("--fail-link", "0-1", "0-3", "0-4", "0-12")
    refuses(trnemu("collective", *ring, *four), USAGE, "link.unreachable")


def test_bytes_and_threads_are_independent():
    texts = {trnemu("collective", "all_reduce", "--ranks", 16, "--size",
                    "1KiB:1MiB:32", "--check", "--threads", t).stdout
             for t in (1, 2, 5)}
    assert len(texts) == 1
    with_values, without = (
        measured("all_reduce", "--ranks", 8, "--size", "64KiB", "--values", v)
        for v in ("on", "off"))
    assert with_values["rows"] == without["rows"]


def test_an_assumed_system_says_so():
    text = trnemu("collective", "all_gather", "--system", "trn3-gen2", "--ranks",
                  8, "--size", "1MiB").stdout
    assert "assumed" in text.split("\n\n")[0]
    assert "assumed" not in trnemu("collective", "all_gather", "--ranks", 8,
                                   "--size", "1MiB").stdout
    report = measured("all_gather", "--system", "trn3-gen2", "--ranks", 8,
                      "--size", "1MiB")
    assert report["system"]["assumed_timing"]


def test_the_plot_is_one_svg_with_a_line_for_each_algorithm(tmp_path):
    path = tmp_path / "p.svg"
    report = measured("all_gather", "--ranks", 16, "--size", "4KiB:4MiB:4",
                      "--algorithm", "all", "--plot", path)
    assert report["plot"] == str(path)
    root = ET.parse(path).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    lines = root.findall(f"{svg}polyline")
    assert len(lines) == 2 * 5  # time and bandwidth; auto and four algorithms
    for line in lines:
        xs = [float(p.split(",")[0]) for p in line.get("points").split()]
        assert len(xs) == 6 and xs == sorted(xs)
        ys = [float(p.split(",")[1]) for p in line.get("points").split()]
        assert all(100 <= y <= 480 for y in ys)
    assert len(root.findall(f"{svg}circle")) == 2 * 5 * 6
    texts = {t.text for t in root.iter(f"{svg}text")}
    assert {"ring", "mesh", "rdh", "kangaring", "auto", "time, us"} <= texts
    # Nothing is fetched from elsewhere.
    assert "href" not in path.read_text() and "url(" not in path.read_text()


@pytest.mark.parametrize(("arguments", "text"), [
    (("all_reduec",), "did you mean all_reduce"),
    (("all_reduce", "--size", "1XB"), "--size takes"),
    (("all_reduce", "--size", "4MiB:1MiB"), "--size takes"),
    (("all_reduce", "--group", "0,1;2"), "one length"),
    (("all_reduce", "--group", "0,x"), "--group takes"),
    (("all_reduce", "--ranks", "4", "--group", "0,4"), "there is no rank 4"),
    (("all_reduce", "--group", "0,0"), "twice"),
    (("all_reduce", "--ranks", "8", "--group-size", "3"), "no groups of 3"),
    (("all_reduce", "--dtype", "fp33"), "there is no dtype"),
    (("all_reduce", "--streams", "5"), "1 to 4 streams"),
    (("all_reduce", "--lnc", "1", "--ranks", "2", "--streams", "3"),
     "1 to 2 streams"),
    (("all_reduce", "--system", "trn2.48xlrge"), "option.system"),
    (("all_reduce", "--ranks", "65"), "option.ranks"),
    (("send_recv", "--ranks", "4", "--group", "0,1,2"), "two ranks"),
    (("all_reduce", "--algorithm", "tree"), "--algorithm"),
    (("collective_barrier", "--plot", "x.svg"), "no sizes"),
])
def test_what_makes_no_sense_is_refused(arguments, text):
    refuses(trnemu("collective", *arguments), USAGE, text)


def test_what_the_device_cannot_do_is_refused_with_the_reason():
    refuses(trnemu("collective", "all_gather", "--ranks", 6, "--size", "1MiB",
                   "--algorithm", "rdh"), 1, "collective.algorithm")
    refuses(trnemu("collective", "all_reduce", "--ranks", 4, "--size", "1MiB",
                   "--dtype", "int32"), 1, "collective.integer")
    refuses(trnemu("collective", "all_reduce", "--size", "1GiB", "--check"), 1,
            "limit.host_memory")


def test_python_gives_the_same_rows():
    (row,) = measured("all_reduce", "--ranks", 16, "--size", "1MiB")["rows"]
    (cost,) = package.collective("all_reduce", ranks=16, size="1MiB")
    assert (cost.time_ns, cost.busbw, cost.algorithm, cost.moves) == (
        row["time_ns"], row["busbw"], row["algorithm"], row["moves"])
    system = package.System("trn2.48xlarge", ranks=16)
    assert package.collective("all_reduce", system, size=1 << 20) == [cost]
    both = package.collective("all_reduce", system, size=[1 << 20, "2MiB"],
                              dtype="float32", check=True)
    assert [c.bytes for c in both] == [1 << 20, 2 << 20]
    assert all(0 < c.max_error <= c.error_bound for c in both)
    everything = package.collective("all_reduce", system, size="1MiB",
                                    algorithm="all")
    assert [c.asked for c in everything][:3] == ["auto", "ring", "mesh"]


def test_python_refuses_what_the_command_refuses():
    system = package.System("trn2.48xlarge", ranks=4)
    with pytest.raises(TypeError):
        package.collective("all_reduce", system, ranks=4)
    with pytest.raises(ValueError, match="size must be"):
        package.collective("all_reduce", system, size="1XB")
    with pytest.raises(ValueError, match="op must be"):
        package.collective("all_reduce", system, op="mul")
    with pytest.raises(ValueError, match="algorithm must be"):
        package.collective("all_reduce", system, algorithm="tree")
    with pytest.raises(package.Fault, match="option.group"):
        package.collective("all_reduce", system, groups=[[0, 9]])
    with pytest.raises(package.Fault, match="option.collective"):
        package.collective("all_reduec", system)
    with pytest.raises(package.Fault, match="option.collective"):
        package.collective("all_reduce", system, size=-1)
