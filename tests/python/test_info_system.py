"""trnemu info --system and --systems: systems of chips, drawn and described."""

import json
import re

import pytest

from cli_kit import FAULT, SUCCESS, USAGE, trnemu
from json_schema import validate


def info(*arguments):
    result = trnemu("info", *arguments)
    assert result.returncode == SUCCESS, result.stderr
    return result.stdout


def system(*arguments):
    report = json.loads(info("--system", *arguments, "--json"))
    validate(report)
    return report["system"]


def fault(*arguments):
    report = json.loads(trnemu("info", *arguments, "--json").stdout)
    validate(report)
    assert not report["ok"]
    return report["fault"]


SYSTEMS = {s["name"]: s for s in json.loads(info("--systems", "--json"))["systems"]}


def drawing(*arguments):
    return info("--system", *arguments).split("\nConstants of ")[0]


def test_the_list_has_ranks_for_each_lnc():
    validate(json.loads(info("--systems", "--json")))
    assert SYSTEMS["trn2.48xlarge"]["ranks"] == {"lnc1": 128, "lnc2": 64}
    assert SYSTEMS["trn2-ultraserver"]["ranks"] == {"lnc1": 512, "lnc2": 256}
    assert SYSTEMS["trn1.32xlarge"]["ranks"] == {"lnc1": 32, "lnc2": None}
    text = info("--systems")
    for name, s in SYSTEMS.items():
        assert re.search(rf"^{re.escape(name)} +{s['target']} +{s['join']} +"
                         rf"{s['chips']} ", text, re.MULTILINE), name


@pytest.mark.parametrize("name", [*SYSTEMS, "trn2.48xlarge*4", "trn3-gen2*2",
                                  "trn2-ultraserver*3", "trn1.2xlarge*9"])
def test_a_drawing_fits_a_hundred_columns_and_has_the_chips(name):
    text = drawing(name)
    assert max(map(len, text.splitlines())) <= 100
    assert all(line == line.rstrip() for line in text.splitlines())
    one = SYSTEMS[name.split("*")[0]]
    drawn = {int(n) for n in re.findall(r"\[ *(\d+)\]", text)}
    if one["chips"] == 64 and one["join"] == "switch":
        assert drawn == {0, 15, 16, 31, 32, 47, 48, 63}  # first and last
    else:
        assert drawn == set(range(one["chips"]))
    assert ("network" in text) == ("*" in name)


def test_a_torus_is_drawn_with_links_that_go_round():
    lines = drawing("trn2.48xlarge").splitlines()
    assert "  ---[ 0]---[ 1]---[ 2]---[ 3]---" in lines
    assert lines.count("      |      |      |      |") == 5
    assert "  link of two chips: 256 GB/s each way, 100 ns" in lines


def test_the_rings_of_an_ultraserver_are_drawn():
    text = drawing("trn2-ultraserver")
    assert "[ 0]===[16]===[32]===[48]===[ 0]" in text
    assert "link of two nodes: 128 GB/s each way" in text


def test_a_failed_link_is_crossed_out_and_named():
    text = drawing("trn2.48xlarge", "--fail-link", "0-1", "chip 4 > chip 0")
    assert "---[ 0]-x-[ 1]---[ 2]---[ 3]---" in text
    assert text.count("x ") == 1 and "      x      |      |      |" in text
    assert "failed: chip 0 > chip 1, chip 1 > chip 0, chip 4 > chip 0" in text
    links = system("trn2.48xlarge", "--fail-link", "3-0")["links"]
    assert {x["name"] for x in links if x["failed"]} == {
        "chip 0 > chip 3", "chip 3 > chip 0"}


@pytest.mark.parametrize("name", [*SYSTEMS, "trn2.48xlarge*4"])
def test_json_has_every_constant_with_its_source_and_every_link(name):
    s = system(name)
    assert all(c["source"] and c["status"] != "unset" for c in s["constants"])
    text = info("--system", name, "--only", "constants")
    for c in s["constants"]:
        assert re.search(rf"^{re.escape(c['path'])} ", text, re.MULTILINE)
    ends = {(x["from"], x["to"]) for x in s["links"]}
    assert {(b, a) for a, b in ends} == ends
    if s["join"] == "torus" and s["nodes_in_ring"] == 1:
        direct = [x for x in s["links"] if x["kind"] == "chip"]
        assert len(direct) == 4 * s["chips"]


def test_the_description_is_a_file_that_system_takes(tmp_path):
    text = info("--system", "trn2.48xlarge", "--only", "description")
    mine = tmp_path / "mine.textproto"
    mine.write_text(text.replace("bandwidth { value: 256 ",
                                 "bandwidth { value: 300 ")
                    .replace('name: "trn2.48xlarge"', 'name: "mine"'))
    s = system(str(mine))
    assert s["name"] == "mine" and s["links"][0]["bandwidth"] == 300
    assert "300 GB/s each way" in drawing(str(mine))
    again = system("trn2.48xlarge", "--only", "description")
    assert again["description"] == text


def test_ranks_and_lnc_are_those_of_the_system():
    info("--system", "trn2.48xlarge", "--lnc", "1", "--ranks", "128")
    assert fault("--system", "trn2.48xlarge", "--ranks", "65")["id"] == "option.ranks"
    assert fault("--system", "trn1.32xlarge", "--lnc", "2")["id"] == "option.lnc"


def test_chips_that_are_cut_off_are_named():
    said = fault("--system", "trn2.48xlarge", "--fail-link", "5-1", "5-4", "5-6", "5-9")
    assert said["id"] == "link.unreachable"
    assert "from chip 0 to chip 5" in said["message"]
    # Where it has no rank it is no loss.
    info("--system", "trn2.48xlarge", "--ranks", "20", "--fail-link", "5-1", "5-4",
         "5-6", "5-9")


def test_what_is_no_system_is_refused(tmp_path):
    assert fault("--system", "trn2.48xlrge")["id"] == "option.system"
    empty = tmp_path / "empty.textproto"
    empty.write_text("")
    assert "name is missing" in fault("--system", str(empty))["message"]
    result = trnemu("info", "--system", str(tmp_path))  # a folder
    assert result.returncode not in (SUCCESS, FAULT)


@pytest.mark.parametrize("arguments", [
    ("--system", "trn2.48xlarge", "k.trn"), ("--systems", "k.trn"),
    ("--system", "trn2.48xlarge", "--systems"), ("--ranks", "4"), ("--lnc", "2"),
    ("--fail-link", "0-1"), ("--system", "trn2.48xlarge", "--only", "opcodes"),
], ids=" ".join)
def test_options_that_do_not_go_together_are_refused(arguments):
    result = trnemu("info", *arguments)
    assert result.returncode == USAGE, result.stdout
