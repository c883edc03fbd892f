"""--strict-frontend: what the device's own front end refuses, and where.

The rules are those of docs/nki-strict-frontend.md, with the evidence for each.
nki_strict_examples.py has a kernel for every one.
"""

import re

import pytest

import trnemu.nki.language as nl
from nki_strict_kit import (  # noqa: F401 (module_of is a fixture)
    EXAMPLES,
    ids,
    lines_of,
    module_of,
    repaired,
)
from trnemu.nki._strict import check
from trnemu.nki._strict_rules import BY_ID, FUNCTIONS, MATH, METHODS


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


def test_a_table_that_a_function_above_the_kernel_changes_is_reported(
    module_of,
):
    lines = [
        "TABLE = {}",
        "def register(name):",
        "    TABLE[name] = 1",
        "def kernel(x):",
        "    return TABLE['a']",
    ]
    assert ids(check(module_of(lines).kernel)) == ["mutable_global"]


def test_the_counter_of_a_loop_body_is_a_register(module_of):
    lines = [
        "def kernel(x):",
        "    def body(i):",
        "        if i > 2:",
        "            nl.load(x)",
        "    nl.fori_loop(0, 4, body_fun=body)",
    ]
    kernel = module_of(lines).kernel
    assert ids(check(kernel)) == ["register_value"]
    assert ids(check(kernel, frontend="tracer")) == ["register_control"]


def test_a_kernel_in_a_function_that_uses_only_globals_is_accepted():
    def kernel(x):
        return nl.load(x)

    assert check(kernel) == []


def test_a_name_that_is_sometimes_something_else_is_not_judged(module_of):
    uses = {
        "nl.ndarray((128, 4), dtype=x.dtype)": "for row in y: print(row)",
        "nl.load(x)": "y[0] = x",
        "[1, 2]": "y.sort()",
        "{'a': 1}": "y.update(a=2)",
        "dict()": "print('a' in y)",
        "'a'": "print(y % 2)",
        "(1, 2)": "y.index(1)",
        "nisa.register_alloc(1)": "print(int(y))",
    }
    lines = ["def kernel(x, other):", "    other.sort()"]
    for number, (value, use) in enumerate(uses.items()):
        name = f"v{number}"
        use = re.sub(r"\by\b", name, use)
        lines += [f"    {name} = {value}", f"    {name} = other", f"    {use}"]
    assert check(module_of(lines).kernel) == []
