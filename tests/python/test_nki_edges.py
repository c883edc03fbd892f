"""What careful and careless people do with kernels: strange arguments and
results. Right, or refused in words."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import pickle
import shlex
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
from nki_edges import add, body, plus, ramp, refused, stored

import trnemu
from trnemu import nki
from trnemu.nki import _trace
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

same = np.testing.assert_array_equal


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert _trace.active() is None and not _trace._recordings
    assert threading.active_count() == 1


@nki.jit
def bump(x, *others):
    """Adds 1 to its first argument in place."""
    tile = nl.load(x)
    add(tile)
    nl.store(x, tile)
    return [body(o) for o in others]


# Arguments.


@pytest.mark.parametrize("array", [
    ramp(8, 16)[:, ::2], ramp(8, 16).T, ramp(8, 16)[::-1, ::-3],
    np.broadcast_to(ramp(1, 8), (4, 8)),
    np.lib.stride_tricks.as_strided(ramp(20), (4, 8), (4, 4)),
    np.asfortranarray(ramp(4, 8)), ramp(7),
])
def test_arrays_of_any_strides_are_read(array):
    same(plus(array).reshape(array.shape), array + 1)


def test_a_strided_array_is_written_where_it_is():
    whole = ramp(8, 8)
    bump(whole[::2, 1::3])
    expected = ramp(8, 8)
    expected[::2, 1::3] += 1
    same(whole, expected)


@pytest.mark.parametrize("array, error", [
    (np.zeros((0, 4), np.float32), trnemu.Fault),
    (ramp(4, 4).astype(">f4"), trnemu.Fault),
    (np.ones((2, 2), object), trnemu.Fault),
    (np.ones((2, 2), [("a", "f4")]), trnemu.Fault),
    (np.ones((2, 2), np.complex64), trnemu.Fault),
    (np.ma.masked_array(ramp(2, 2), mask=[[0, 1], [0, 0]]), TypeError),
])
def test_arrays_that_are_no_tensors_are_refused(array, error):
    with pytest.raises(error):
        plus(array)


def test_boolean_arrays_stay_boolean():
    x = ramp(4, 4) % 2 == 0
    out = nki.jit(lambda x: stored(nl.load(x)))(x)
    assert out.dtype == bool
    same(out, x)


def test_two_views_of_the_same_elements_are_one_tensor():
    x = ramp(4, 4)
    (seen,) = bump(x[:], x[:])
    same(seen, ramp(4, 4) + 2)
    same(x, ramp(4, 4) + 1)


@pytest.mark.parametrize("first, second", [
    (np.s_[0:8], np.s_[4:12]), (np.s_[0:4, :], np.s_[0:4, ::-1]),
])
def test_a_write_to_an_argument_that_overlaps_another_is_refused(first, second):
    x = ramp(12, 4)
    fault = refused(bump, x[first], x[second])
    assert (fault.category, fault.id) == ("input", "nki.argument_overlap")
    same(x, ramp(12, 4))


@pytest.mark.parametrize("first, second", [
    (np.s_[:, ::2], np.s_[:, 1::2]), (np.s_[:4], np.s_[4:]),
])
def test_views_without_common_elements_are_apart(first, second):
    x = ramp(8, 8)
    (seen,) = bump(x[first], x[second])
    same(seen, ramp(8, 8)[second] + 1)
    same(x[first], ramp(8, 8)[first] + 1)


def test_a_write_to_an_array_whose_elements_overlap_is_refused():
    x = np.lib.stride_tricks.as_strided(ramp(20), (4, 8), (4, 4))
    assert refused(bump, x).id == "nki.argument_overlap"


def test_a_read_only_argument_is_refused_before_others_are_written():
    x, y = ramp(4, 4), ramp(4, 4)
    y.flags.writeable = False

    @nki.jit
    def both(x, y):
        tile = nl.zeros(x.shape, x.dtype)
        nl.store(x, tile)
        nl.store(y, tile)

    assert refused(both, x, y).id == "nki.read_only"
    same(x, ramp(4, 4))


class Pair(NamedTuple):
    array: Any
    number: int = 3


@dataclasses.dataclass(frozen=True)
class Frozen:
    array: Any
    inner: Any = None


@dataclasses.dataclass
class Slotted:
    __slots__ = ("array",)
    array: Any


@pytest.mark.parametrize("wrap, unwrap", [
    (Pair, lambda p: p.array),
    (Frozen, lambda p: p.array),
    (lambda a: Frozen(1, Frozen(a)), lambda p: p.inner.array),
    (lambda a: Frozen(1, [{"x": Pair(a)}]), lambda p: p.inner[0]["x"].array),
    (Slotted, lambda p: p.array),
    (lambda a: collections.defaultdict(list, x=a), lambda p: p["x"] + p["no"]),
    (lambda a: nki.NKIObject(array=a), lambda p: p.array),
])
def test_arrays_inside_objects_are_tensors_inside_the_kernel(wrap, unwrap):
    array = ramp(4, 4)
    given = wrap(array)

    @nki.jit
    def kernel(p):
        assert type(p) is type(given)
        if isinstance(p, dict):
            assert p["no"] == []
            return body(p["x"])
        return body(unwrap(p))

    same(kernel(given), array + 1)
    if not isinstance(given, dict):
        assert unwrap(given) is array  # the caller's object is untouched


def test_arguments_by_keyword_by_default_and_by_star():
    default = ramp(2, 2)

    @nki.jit
    def kernel(x, /, *rest, w=default, **named):
        return body(x), body(rest[0]), body(w), body(named["z"])

    out = kernel(ramp(3, 3), ramp(4, 4), z=ramp(5, 5))
    assert [o.shape for o in out] == [(3, 3), (4, 4), (2, 2), (5, 5)]
    assert list(kernel.program.inputs) == ["x", "rest_0", "w", "named_z"]
    for wrong in ({}, {"x": ramp(2, 2)}):
        with pytest.raises(TypeError):
            kernel(**wrong)


# What a kernel is, and what it gives.


class Model:
    scale = 2.0

    @nki.jit
    def method(self, x):
        return body(x, self.scale)

    @staticmethod
    @nki.jit
    def static(x):
        return body(x)

    @classmethod
    @nki.jit
    def of_class(cls, x):
        return body(x, cls.scale)

    def __call__(self, x):
        return body(x, self.scale)


def test_methods_partials_and_callables_are_kernels():
    x, m = ramp(4, 4), Model()
    same(m.method(x), x + 2)
    same(m.method[1](x), x + 2)
    same(Model.method(m, x), x + 2)
    same(m.static(x), x + 1)
    same(Model.of_class(x), x + 2)
    same(nki.jit(m)(x), x + 2)
    same(nki.jit(functools.partial(body, amount=5.0))(x), x + 5)
    assert nki.jit(functools.partial(body, amount=5.0)).__name__ == "body"


@pytest.mark.parametrize("thing", [3, "name", Model, len])
def test_what_is_no_function_is_no_kernel(thing):
    with pytest.raises(TypeError, match="takes a function"):
        nki.jit(thing)


def test_kernels_are_copied_and_pickled_as_functions_are():
    plus(ramp(2, 2))
    assert copy.deepcopy({"k": plus})["k"] is plus
    assert pickle.loads(pickle.dumps(plus)) is plus
    again = pickle.loads(pickle.dumps(nki.jit(body, target="trn1")))
    same(again(ramp(2, 2)), ramp(2, 2) + 1)
    assert again.result.target == "trn1"


def generator(x):
    yield body(x)


async def coroutine(x):
    return body(x)


@pytest.mark.parametrize("function", [
    generator, coroutine, lambda x: {body(x)}, lambda x: (body(x) for _ in "a"),
])
def test_results_that_cannot_be_arrays_are_type_errors(function):
    with pytest.raises(TypeError):
        nki.jit(function)(ramp(2, 2))


@pytest.mark.parametrize("function", [
    lambda x: nisa.register_alloc(1),
    lambda x: x[nisa.register_alloc(1)],
    lambda x: [body(x), nl.load(x)],
    lambda x: Frozen(nl.load(x)),
])
def test_results_that_are_not_in_hbm_are_refused(function):
    assert refused(nki.jit(function), ramp(4, 4)).id == "nki.return"


VIEWS = {
    "part": lambda a: a[1:3],
    "turned": lambda a: a[::-1, ::-1],
    "steps": lambda a: a[:, ::-2],
    "element": lambda a: a[1, 2],
    "transposed": lambda a: a.T if isinstance(a, np.ndarray) else a.permute(
        (1, 0)),
    "bits": lambda a: a.view(np.int32) if isinstance(
        a, np.ndarray) else a.view(nl.int32),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("what", ["read", "written", "made", "constant"])
def test_a_returned_view_shows_its_own_elements(name, what):
    """Square, so that a view may have the shape of the whole."""
    look = VIEWS[name]
    constant = ramp(4, 4)

    @nki.jit
    def kernel(x):
        if what == "written":
            tile = nl.load(x)
            add(tile)
            nl.store(x, tile)
        made = body(x) if what == "made" else x
        if what == "constant":
            made = nl.shared_constant(constant)
        return look(made)

    out = kernel(ramp(4, 4))
    same(out, look(ramp(4, 4) + (what in ("written", "made"))))


def test_a_returned_pattern_that_leaves_its_tensor_is_refused():
    for what in (lambda x: x, body):
        kernel = nki.jit(lambda x: what(x).ap([[4, 4], [1, 4]], offset=1))
        assert refused(kernel, ramp(4, 4)).id == "access.pattern_out_of_bounds"


def test_objects_are_returned_with_arrays():
    out = nki.jit(lambda x: Frozen(body(x), Pair(x)))(ramp(4, 4))
    same(out.array, ramp(4, 4) + 1)
    assert isinstance(out.inner, Pair) and out.inner.number == 3
    same(out.inner.array, ramp(4, 4))


def test_an_untouched_argument_is_returned_as_it_is():
    x = ramp(4, 4)
    assert nki.jit(lambda x: x)(x) is x


@pytest.mark.parametrize("name", ["a b", 'ü"\\\n', "", "x/../y", "日本"])
def test_names_of_any_characters_survive_the_text_form(name):
    @nki.jit
    def kernel(**given):
        tile = nl.load(given[name])
        tile = nl.copy(tile)
        out = nl.ndarray(tile.shape, tile.dtype, nl.shared_hbm, name=f"o{name}")
        nl.store(out, tile)
        return out

    same(kernel(**{name: ramp(2, 2)}), ramp(2, 2))
    text = kernel.program.to_text()
    assert trnemu.Program.from_text(text).to_text() == text


def test_a_launch_is_saved_under_names_that_files_may_have(tmp_path, capfd):
    """And the command that is printed runs it."""
    kernel = nki.jit(lambda **given: [body(x) for x in given.values()],
                     save=str(tmp_path / "new"))
    names = ("a b", "a_b", "../x", "$(y)", "w" * 300)
    for _ in range(2):
        kernel(**{name: ramp(2, 2) for name in names})
    files = sorted(f.name for f in (tmp_path / "new").iterdir())
    assert len(files) == 2 * (1 + len(names))
    assert sorted(f.name for f in tmp_path.iterdir()) == ["new"]
    commands = capfd.readouterr().err.splitlines()
    assert len(commands) == 2 and all(c.startswith("saved: ") for c in commands)
    for command in commands:
        given = shlex.split(command.removeprefix("saved: trnemu run "))
        program = trnemu.Program.load(given[0])
        inputs = dict(g.split("=", 1) for g in given[2::2])
        assert set(inputs) == set(program.inputs)
        result = trnemu.run(
            program, {k: np.load(f) for k, f in inputs.items()})
        for out in result.outputs.values():
            same(out, ramp(2, 2) + 1)
