"""The driver of docs/nki-kernels.md, on small kernels of our own in the shapes
that the public ones have; and the page itself."""

import os
import pathlib
import sys

import numpy as np
import pytest
import trnemu.nki._install

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "nki-kernels.md"
sys.path.insert(0, str(ROOT / "bench"))

import nki_kernels  # noqa: E402
from nki_kernels_case import (  # noqa: E402
    Body,
    Case,
    File,
    Page,
    Skipped,
    Tolerance,
    refused,
)
from nki_kernels_sources import Copy, load_file  # noqa: E402
from nki_kernels_table import COLUMNS, FOLDERS  # noqa: E402

KERNELS = '''\
import os

import nki
import nki.isa as nisa
import nki.language as nl

os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn1"


@nki.jit
def tripled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=3.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


def reference(x):
    return 3 * x
'''
TEXT = '''\
A page
======

.. code-block:: python

   @nki.jit
   def negated(x, y):
       tile = nl.load(x)
       nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=-1.0)
       nl.store(y, value=tile)

   negated(x, y)

A fragment, and one that is not run::

   t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)
   assert t[:, 0:2].shape == (4, 2)

.. code-block:: python

   nisa.no_such_instruction(...)
'''
X = np.arange(32, dtype=np.float32).reshape(4, 8)
SKIPPED = [Skipped("nki/page.rst", "", "-")]


@pytest.fixture(autouse=True)
def without_our_nki():
    """The driver leaves `import nki` to trnemu: other tests do not want it."""
    before = list(sys.meta_path)
    yield
    if sys.meta_path != before:
        trnemu.nki._install.uninstall()


@pytest.fixture
def sdk(tmp_path):
    """A copy with a file and a page; its path, and keys of the fragments."""
    examples = tmp_path / "sdk" / "nki" / "examples"
    examples.mkdir(parents=True)
    (examples / "tripled.py").write_text(KERNELS)
    (tmp_path / "sdk" / "nki" / "page.rst").write_text(TEXT)
    (tmp_path / "samples").mkdir()
    return tmp_path / "sdk"


def keys(sdk):
    return [b.key for b in Copy("sdk", sdk).blocks("nki/page.rst")]


def tripled(reference=lambda work, x: work.module.reference(x), **more):
    source = File("sdk", "nki/examples/tripled.py", "tripled")
    return Case("tripled", source, lambda work: (X,), reference, **more)


def known(sdk):
    """Rows for all that the copy has, and what is not run."""
    negated = Case("negated", Page("sdk", "nki/page.rst", "negated"),
                   lambda work: (X, np.zeros_like(X)),
                   lambda work, x, y: -x, in_place=(1,))
    fragment = Case("views", Body("sdk", "nki/page.rst", keys(sdk)[1]))
    skip = Skipped("nki/page.rst", keys(sdk)[2], "has ... for arguments")
    return [tripled(), negated, fragment], [skip]


def table(text):
    """Rows of the first table that has COLUMNS, as dicts."""
    rows, inside = [], False
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if tuple(cells) == COLUMNS:
            inside = True
        elif inside and not line.startswith("|"):
            return rows
        elif inside and not line.startswith("|---"):
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def run(sdk, cases, skipped, *arguments):
    return nki_kernels.main(["--sdk", str(sdk), *arguments], cases, skipped)


def written(sdk, cases, skipped):
    """The exit code, and the page."""
    page = sdk / "page.md"
    code = run(sdk, cases, skipped, "--samples", str(sdk.parent / "samples"),
               "--write", str(page))
    return code, page.read_text()


def test_kernels_of_files_pages_and_fragments_are_rows_of_the_page(sdk):
    code, text = written(sdk, *known(sdk))
    rows = table(text)
    assert code == 0
    assert len(rows) == 9  # three kernels, three generations
    assert {r["result"] for r in rows} == {"pass"}
    first = rows[0]
    assert first["kernel"] == "tripled"
    assert first["source"] == "nki/examples/tripled.py"
    assert [r["generation"] for r in rows[:3]] == ["trn1", "trn2", "trn3"]
    assert first["max error"] == "0"
    assert first["tolerance"] == "equal (ours: exact)"
    assert first["simulated time"].endswith(" us")
    assert rows[3]["source"] == "nki/page.rst:6"
    assert rows[6]["tolerance"] == "its assertions"
    assert "| nki/page.rst:21 | has ... for arguments |" in text


def test_a_result_outside_its_tolerance_fails_and_so_does_the_driver(
    sdk, capsys
):
    wrong = tripled(lambda work, x: 3 * x + np.float32(0.5),
                    tolerance=Tolerance(0.0, 0.25, "ours"))
    code, text = written(sdk, [wrong, *known(sdk)[0][1:]], known(sdk)[1])
    assert code == 1
    assert [r["result"] for r in table(text)][:4] == ["FAIL"] * 3 + ["pass"]
    assert "32 of 32 elements differ" in capsys.readouterr().out


def test_a_result_within_its_tolerance_passes_with_its_error(sdk):
    near = tripled(lambda work, x: 3 * x + np.float32(0.25),
                   tolerance=Tolerance(0.0, 0.25, "ours"))
    code, text = written(sdk, [near, *known(sdk)[0][1:]], known(sdk)[1])
    assert code == 0
    assert table(text)[0]["max error"] == "0.25"
    assert table(text)[0]["tolerance"] == "atol 0.25 (ours)"


def body(sdk, **more):
    """A fragment after a use of 256 partitions."""
    source = Body("sdk", "nki/page.rst", keys(sdk)[1], before="""\
big = nl.ndarray((256, 8), dtype=nl.float32, buffer=nl.sbuf)
nisa.memset(dst=big, value=0.0)
""")
    return Case("too many partitions", source, **more)


def test_a_refusal_that_is_not_expected_fails(sdk, capsys):
    assert run(sdk, [body(sdk)], SKIPPED, "--filter", "too many") == 1
    assert "partition" in capsys.readouterr().out


def test_an_expected_refusal_needs_the_right_finding(sdk, capsys):
    case = body(sdk, refused=refused("nki.other", "a page says so"))
    assert run(sdk, [case], SKIPPED, "--filter", "too many") == 1
    assert "FAIL" in capsys.readouterr().out


def unknown_keyword(sdk, says):
    source = Body("sdk", "nki/page.rst", keys(sdk)[1],
                  before="nisa.register_alloc(no_such=1)")
    return Case("unknown keyword", source,
                refused=refused("TypeError", "a page says so", says=says))


@pytest.mark.parametrize(("says", "code"), [("no_such", 0), ("other", 1)])
def test_an_expected_type_error_names_the_keyword(sdk, says, code):
    case = unknown_keyword(sdk, says)
    assert run(sdk, [case], SKIPPED, "--filter", "unknown") == code


def test_an_expected_refusal_is_listed_with_its_reason(sdk, capsys):
    run(sdk, [body(sdk)], SKIPPED, "--filter", "too many", "-v")
    cases, skipped = known(sdk)
    code, text = written(sdk, [body(sdk), *cases], skipped)
    rule = table(text)[0]["findings"]
    case = body(sdk, refused=refused(rule, "a page says so"))
    code, text = written(sdk, [case, *cases], skipped)
    assert code == 0
    assert table(text)[0]["result"] == "expected refusal"
    row = f"| too many partitions | trn1 | {rule} | a page says so |"
    assert row in text


def test_a_kernel_that_runs_although_its_refusal_was_expected_fails(sdk):
    case = tripled(refused=refused("nki.other", "a page says so", "trn1"))
    cases, skipped = known(sdk)
    code, text = written(sdk, [case, *cases[1:]], skipped)
    assert code == 1
    assert [r["result"] for r in table(text)[:3]] == ["FAIL", "pass", "pass"]


def test_code_that_no_row_knows_is_named(sdk, capsys):
    cases, skipped = known(sdk)
    assert run(sdk, cases[:1], skipped) == 1
    out = capsys.readouterr().out
    assert "no row knows nki/page.rst:6" in out
    assert "no row knows nki/page.rst:16" in out
    assert "nki/page.rst:21" not in out


def test_a_kernel_of_a_file_that_no_row_knows_is_named(sdk, capsys):
    cases, skipped = known(sdk)
    assert run(sdk, cases[1:], skipped) == 1
    assert "no row knows nki/examples/tripled.py:11" in capsys.readouterr().out


def test_a_fragment_that_has_changed_is_not_found(sdk, capsys):
    cases, skipped = known(sdk)
    page = sdk / "nki" / "page.rst"
    page.write_text(TEXT.replace("0:2", "0:1").replace("(4, 2)", "(4, 1)"))
    assert run(sdk, cases, skipped, "--filter", "views") == 1
    assert "the page has changed" in capsys.readouterr().out


def test_a_file_cannot_set_the_target_of_what_runs_next(sdk, monkeypatch):
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn3")
    trnemu.nki._install.install()
    load_file(sdk / "nki" / "examples" / "tripled.py", "tripled")
    assert os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] == "trn3"


def test_one_generation_can_be_chosen(sdk, capsys):
    run(sdk, known(sdk)[0], SKIPPED, "--filter", "views", "--target", "trn3")
    out = capsys.readouterr().out
    assert "1 rows of 1 cases: 1 pass" in out


@pytest.mark.parametrize(
    "arguments",
    [[], ["--sdk", "x", "--write", "y"],
     ["--sdk", "x", "--samples", "y", "--write", "z", "--filter", "a"]],
)
def test_a_command_line_that_cannot_write_the_whole_table_is_refused(
    arguments,
):
    with pytest.raises(SystemExit) as stopped:
        nki_kernels.main(arguments, [], [])
    assert stopped.value.code == 2


def test_the_folders_of_both_copies_are_looked_at():
    assert set(FOLDERS) == {"sdk", "samples"}


def test_the_page_has_no_fail():
    rows = table(PAGE.read_text())
    assert len(rows) > 200
    assert {r["result"] for r in rows} == {"pass", "expected refusal"}


def test_the_page_allows_at_most_one_finding_for_a_kernel():
    for row in table(PAGE.read_text()):
        assert "," not in row["allowed"], row
        assert row["result"] != "pass" or row["findings"] in (
            "-", row["allowed"]), row


def test_the_page_covers_both_copies_and_every_generation():
    text = PAGE.read_text()
    rows = table(text)
    generations = {r["generation"].split()[0] for r in rows}
    assert generations == {"trn1", "trn2", "trn3"}
    assert any(r["source"].startswith("nki/") for r in rows)
    assert any(r["source"].startswith("src/nki_samples/") for r in rows)
    assert "aws-neuron/nki-samples | 6905a68a" in text


def test_every_row_of_the_page_is_a_case_of_the_driver():
    cases = {(c.name, c.source.path) for c in nki_kernels.all_cases()}
    for row in table(PAGE.read_text()):
        path = row["source"].partition(":")[0]
        assert (row["kernel"], path) in cases, row
