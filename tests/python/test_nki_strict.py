"""--strict-frontend: what the device's own front end refuses, and where.

The rules are those of docs/nki-strict-frontend.md, with the evidence for each.
nki_strict_examples.py has a kernel for every one.
"""

import importlib.util
import linecache
import pathlib
import re
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import trnemu.nki as nki
import trnemu.nki.isa as nisa
import trnemu.nki.language as nl
from trnemu.nki._strict import check, check_arguments
from trnemu.nki._strict_rules import BY_ID, FUNCTIONS, MATH, METHODS, RULES

HERE = pathlib.Path(__file__).resolve()
PAGE = HERE.parents[2] / "docs" / "nki-strict-frontend.md"
IMPORTS = """\
import copy, functools, math, os, types
from enum import Enum, IntEnum
from typing import NamedTuple
import numpy as np
import trnemu.nki as nki, trnemu.nki.isa as nisa, trnemu.nki.language as nl
neuronxcc = types.ModuleType("neuronxcc")
"""
MARK = re.compile(r"\s*# fix: (?P<fix>.*)$")


def read_examples() -> Iterator[tuple[str, str, list[str]]]:
    text = HERE.with_name("nki_strict_examples.py").read_text()
    for block in text.split("\n#% ")[1:]:
        head, *lines = block.rstrip().split("\n")
        name, _, frontend = head.partition(" ")
        yield name, frontend or "parser", lines


EXAMPLES = {name: (f, lines) for name, f, lines in read_examples()}


def repaired(lines: list[str]) -> list[str]:
    result = []
    for line in lines:
        mark = MARK.search(line)
        if mark is None:
            result.append(line)
        elif mark["fix"] != "leave out":
            indent = line[: len(line) - len(line.lstrip())]
            result.append(indent + mark["fix"])
    return result


@pytest.fixture
def module_of(tmp_path):
    """A module of the lines, behind IMPORTS, in a file of that name."""
    made = []

    def make(lines: list[str], name: str = "strict_example"):
        file = tmp_path / f"{name}.py"
        file.write_text(IMPORTS + "\n".join(lines) + "\n")
        linecache.checkcache(str(file))
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        made.append(name)
        spec.loader.exec_module(module)
        return module

    yield make
    for name in made:
        sys.modules.pop(name, None)


def ids(findings):
    return [f.id.removeprefix("nki.strict.") for f in findings]


def lines_of(findings):
    """Line numbers, the first behind IMPORTS being 1."""
    place = re.compile(r":(\d+) in ")
    before = IMPORTS.count("\n")
    return [int(place.search(f.source)[1]) - before for f in findings]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_construct_is_refused_by_its_name_at_its_line(name, module_of):
    frontend, lines = EXAMPLES[name]
    marked = "# here" if any("# here" in x for x in lines) else "# fix:"
    expected = [
        number
        for number, line in enumerate(lines, 1)
        if marked in line and not line.lstrip().startswith("#")
    ]
    found = check(module_of(lines).kernel, frontend=frontend)
    assert {*ids(found)} == {name}
    assert sorted({*lines_of(found)}) == expected
    assert {f.severity for f in found} == {BY_ID[name].severity}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_to_write_instead_is_accepted(name, module_of):
    frontend, lines = EXAMPLES[name]
    kernel = module_of(repaired(lines)).kernel
    assert [str(f) for f in check(kernel, frontend=frontend)] == []


def test_every_rule_but_that_of_a_missing_source_has_an_example():
    assert {*EXAMPLES} == {*BY_ID} - {"source"}


def test_a_kernel_without_a_source_is_refused():
    names = {}
    exec("def kernel(x):\n    return x\n", names)
    (finding,) = check(names["kernel"])
    assert finding.id == "nki.strict.source"


# What is accepted.

EVERYTHING = '''
WIDTHS = [64, 128]

class Mode(Enum):
    FAST = 1
    EXACT = 2

class Tile(nl.NKIObject):
    """A part of a dimension."""
    start: int
    size: int = 128

    def __init__(self, start, size=128):
        self.start = start
        self.size = size

    @staticmethod
    def count(total, size):
        return math.ceil(total / size)

def tiles(total, size: int) -> tuple:
    made = []
    for i in range(Tile.count(total, size)):
        made.append(Tile(i * size, min(size, total - i * size)))
    return tuple(made)

def halve(dst, src):
    nisa.tensor_scalar(dst=dst, data=src, op0=nl.multiply, operand0=0.5)

@nki.jit
def inner(x, *, _unused=0):
    return x

@nki.jit
def kernel(x: nl.ndarray, mode=Mode.FAST, body=halve, sizes=(1, 2)):
    """Docstrings and constants are no statements."""
    assert len(x.shape) == 2, f"{x.shape=} {mode.name!r}"
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = x.shape
    table = {"a": 1, "b": None}
    table["c"] = table.get("a", 0) + 1
    for key in table.keys():
        print(key, table[key])
    parts: list[nl.ndarray] = []
    first = second = None
    for tile in tiles(rows, 128):
        end = tile.start + tile.size
        if mode == Mode.EXACT or not tile.size and first is None:
            continue
        elif tile.size in WIDTHS and 0 < tile.size <= 128:
            pass
        t = nl.load(x[tile.start:end, 0:columns])
        body(dst=t, src=t)
        parts.append(t)
        nl.store(out[tile.start:end, ::1], t)
    i = 0
    while i < len(parts):
        i += 1
        if i > 4:
            break
    n = nisa.register_alloc(2)
    for k in nl.dynamic_range(n):
        with nl.no_reorder():
            nl.load(x)
    while n:
        nl.load(x)
        nisa.register_load(n, x)
    def loop(r):
        halve(parts[0], parts[0])
        nisa.register_load(r, x)
        return r
    nl.while_loop(n, loop)
    bits = (~1 | 2 ^ 3) & 7 << 1 >> 1
    scale = 2.0 ** -1 if bits % 2 else float("inf")
    copies = [parts[-1]] * 2 + list(parts[:-1])
    x = isinstance(scale, float) and abs(scale) < np.inf
    return out, copies
'''.split("\n")


def test_all_that_the_language_has_is_accepted(module_of):
    lines = [x.replace("*, _unused", "_unused") for x in EVERYTHING]
    assert [str(f) for f in check(module_of(lines).kernel)] == []


def test_functions_named_only_in_annotations_are_not_followed(module_of):
    lines = [
        "class Other:",
        "    pass",
        "def kernel(x: Other) -> Other:",
        "    y: Other = x",
        "    return y",
    ]
    assert check(module_of(lines).kernel) == []


def test_print_with_keywords_is_accepted_as_the_device_ignores_them(module_of):
    lines = ["def kernel(x):", "    print(x.shape, end='')"]
    assert check(module_of(lines).kernel) == []


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_built_in_functions_of_the_list_are_accepted(name, module_of):
    arguments = {"divmod": "7, 2", "isinstance": "x, int"}.get(name, "x")
    lines = ["def kernel(x):", f"    return {name}({arguments})"]
    assert check(module_of(lines).kernel) == []


@pytest.mark.parametrize("name", sorted(MATH))
def test_functions_of_math_of_the_list_are_accepted(name, module_of):
    lines = ["def kernel(x):", f"    return math.{name}(x.shape[0])"]
    assert check(module_of(lines).kernel) == []


@pytest.mark.parametrize("kind", ["list", "dict"])
def test_methods_of_the_list_are_accepted(kind, module_of):
    start = {"list": "[1]", "dict": "{'a': 1}"}[kind]
    lines = ["def kernel(x):", f"    y = {start}"]
    lines += [f"    y.{method}" for method in sorted(METHODS[kind])]
    assert check(module_of(lines).kernel) == []


def test_a_table_that_the_file_only_fills_is_no_mutable_global(module_of):
    lines = [
        "table = {}",
        "for name in ('a', 'b'):",
        "    table[name] = len(table)",
        "def kernel(x):",
        "    return later[0] + table['a']",
        "later = [1]",
        "later.append(2)",
    ]
    assert check(module_of(lines).kernel) == []


def test_a_kernel_in_a_function_that_uses_only_globals_is_accepted():
    def kernel(x):
        return nl.load(x)

    assert check(kernel) == []


def test_a_name_that_is_sometimes_something_else_is_not_judged(module_of):
    lines = [
        "def kernel(x, other):",
        "    y = nl.ndarray((128, 4), dtype=x.dtype)",
        "    if x.ndim == 3:",
        "        y = other",
        "    y[0] = x",
        "    other.sort()",
        "    for row in y:",
        "        print(row in other)",
    ]
    assert check(module_of(lines).kernel) == []


# Where it looks.


def test_functions_and_classes_of_other_files_are_followed(module_of):
    module_of(
        [
            "class Sizes(nl.NKIObject):",
            "    rows: int = 1",
            "    def total(self):",
            "        return sum([self.rows])",
            "def deep(x):",
            "    return [n for n in x.shape]",
            "def not_called(x):",
            "    return [n for n in x.shape]",
        ],
        "strict_helpers",
    )
    lines = [
        "import strict_helpers",
        "from strict_helpers import deep as other",
        "def kernel(x):",
        "    if False:",
        "        strict_helpers.Sizes().total()",
        "    return other(x)",
    ]
    found = check(module_of(lines).kernel)
    assert sorted(ids(found)) == ["builtin", "comprehension"]
    by_id = dict(zip(ids(found), found, strict=True))
    assert re.search(
        r"strict_helpers\.py:10 in total$", by_id["builtin"].source
    )
    assert re.search(
        r"strict_helpers\.py:12 in deep$", by_id["comprehension"].source
    )


def test_functions_in_tables_defaults_and_jitted_ones_are_followed(module_of):
    lines = [
        "def a(x): return {1, 2}",
        "def b(x): return {3, 4}",
        "@nki.jit",
        "def c(x): return {5, 6}",
        "TABLE = {'a': (a,)}",
        "@nki.jit",
        "def kernel(x, f=b):",
        "    return TABLE['a'][0](x), c(x)",
    ]
    found = check(module_of(lines).kernel)
    assert sorted(lines_of(found)) == [1, 2, 4]


def test_the_class_of_a_global_object_is_followed(module_of):
    lines = [
        "class Limits:",
        "    rows = 128",
        "LIMITS = Limits()",
        "def kernel(x):",
        "    return LIMITS.rows",
    ]
    assert ids(check(module_of(lines).kernel)) == ["class_base"]


def test_a_function_that_calls_itself_is_followed_once(module_of):
    lines = [
        "def kernel(x, n=2):",
        "    y = {n}",
        "    return kernel(x, n - 1) if n else y",
    ]
    assert lines_of(check(module_of(lines).kernel)) == [2]


def test_local_names_hide_globals_and_builtins(module_of):
    lines = [
        "def sum(x): return x",
        "def kernel(x, sorted):",
        "    return sum(sorted(x))",
    ]
    assert check(module_of(lines).kernel) == []


def test_the_line_of_a_decorated_kernel_with_long_strings_is_right(module_of):
    lines = [
        "def around():",
        "    @nki.jit(",
        "    )",
        "    def kernel(x):",
        "        '''text that starts",
        "at the margin'''",
        "        return (x,",
        "                {1})",
        "    return kernel",
        "kernel = around()",
    ]
    found = check(module_of(lines).kernel)
    assert (ids(found), lines_of(found)) == (["set"], [8])


def test_a_file_that_changed_is_read_again(module_of):
    module = module_of(["def kernel(x):", "    return {1}"])
    assert ids(check(module.kernel)) == ["set"]
    module = module_of(["def kernel(x):", "    return (1, 22)"])
    assert check(module.kernel) == []


# What a finding says.


def test_a_finding_has_place_text_remedy_and_evidence(module_of):
    (finding,) = check(
        module_of(["def kernel(x):", "    return x is True"]).kernel
    )
    assert finding.category == "illegal"
    assert finding.message == (
        "identity does not exist in the NKI language: x is True"
    )
    assert finding.remedy == "compare with == or !="
    assert finding.reference.endswith("(documented)")
    assert re.search(r"strict_example\.py:8 in kernel$", finding.source)
    assert "strict_example.py:8 in kernel" in str(finding)


def test_findings_come_function_by_function_from_the_kernel_on(module_of):
    lines = [
        "def a(x): return {1}",
        "def kernel(x):",
        "    a({2})",
        "    return {3}",
    ]
    assert lines_of(check(module_of(lines).kernel)) == [3, 4, 1]


# The two front ends, arguments, mistakes.


def test_the_tracer_accepts_what_only_the_parser_refuses(module_of):
    refused = {rule.id for rule in RULES if rule.tracer}
    for name, (_, lines) in EXAMPLES.items():
        found = check(module_of(lines).kernel, frontend="tracer")
        assert {*ids(found)} <= refused, name


def test_the_parser_accepts_registers_in_if_and_while(module_of):
    lines = EXAMPLES["dynamic_range"][1]
    assert check(module_of(lines).kernel) == []


def test_a_list_among_the_arguments_is_refused_by_the_parser_only():
    def kernel(x, perm, stride=(1, 1)):
        return x

    x = np.zeros((2, 2), np.float32)
    (finding,) = check_arguments(kernel, (x, [1, 0]), {"stride": (1, 1)})
    assert finding.id == "nki.strict.list_argument"
    assert "perm" in finding.message
    assert not check_arguments(kernel, (x, [1, 0]), frontend="tracer")
    assert not check_arguments(nki.jit(kernel), (x, (1, 0)))


class Plain:
    pass


class Config(nl.NKIObject):
    tile: int = 128

    def rows(self):
        return {self.tile}


def test_classes_of_arguments_are_checked():
    def kernel(x, config):
        return x

    assert ids(check_arguments(kernel, (1, Plain()))) == ["class_base"]
    assert ids(check_arguments(kernel, (1, (Config(),)))) == ["set"]
    assert not check_arguments(kernel, (nl.float32, nisa.oob_mode.error))


def test_other_front_ends_and_what_is_no_function_are_refused():
    with pytest.raises(ValueError, match="no front end 'lexer'"):
        check(test_every_rule_but_that_of_a_missing_source_has_an_example,
              frontend="lexer")  # fmt: skip
    with pytest.raises(TypeError, match="a kernel is a function, not int"):
        check(3)


# The page.


def row_of(rule) -> str:
    cells = (
        f"`{rule.id}`", rule.construct,
        rule.effect if rule.parser else "accepted",
        rule.effect if rule.tracer else "accepted", rule.here, rule.instead,
        f"{rule.evidence}: {rule.reference}",
    )  # fmt: skip
    text = " | ".join(cells).replace("{{", "{").replace("}}", "}")
    return f"| {text} |"


def test_the_page_has_the_rules_as_they_are():
    rows = [x for x in PAGE.read_text().split("\n") if x.startswith("| `")]
    assert rows == [row_of(rule) for rule in RULES]


def test_the_example_of_the_page_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    # Where a kernel of a notebook has its source, too.
    name = "nki-strict-frontend.md"
    lines = code.splitlines(keepends=True)
    linecache.cache[name] = (len(code), None, lines, name)
    exec(compile(code, name, "exec"), {})


def test_the_page_has_the_lists_as_they_are():
    text = PAGE.read_text()
    for names in (FUNCTIONS, MATH, METHODS["list"], METHODS["dict"]):
        assert " ".join(f"`{name}`" for name in sorted(names)) in text
