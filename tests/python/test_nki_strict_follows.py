"""--strict-frontend: what it follows, what a finding says, and its page."""

import linecache
import re

import numpy as np
import pytest

import trnemu.nki as nki
import trnemu.nki.isa as nisa
import trnemu.nki.language as nl
from nki_strict_kit import (  # noqa: F401 (module_of is a fixture)
    EXAMPLES,
    PAGE,
    ids,
    lines_of,
    module_of,
)
from trnemu.nki._strict import check, check_arguments
from trnemu.nki._strict_rules import FUNCTIONS, MATH, METHODS, RULES


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
        check(row_of, frontend="lexer")
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
