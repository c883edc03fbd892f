"""Every name that NKI kernels import is there, with the documented signature.

The tables are in nki_signatures.py.
"""

import enum
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import nki_signatures as names
import numpy as np
import pytest

import trnemu
from trnemu import Dtype, Fault
from trnemu.nki import collectives, compiler, isa, typing
from trnemu.nki import language as nl
from trnemu.nki._object import NKIObject
from trnemu.nki.compiler import frontend, ncc_driver
from trnemu.nki.language import _tokens


def shown(default: Any) -> str:
    """A default as nki_signatures.py writes it."""
    if isinstance(default, enum.Enum):
        return default.name
    if isinstance(default, (_tokens.Op, Dtype)):
        return str(default)
    if isinstance(default, float) and default == np.finfo(np.float32).min:
        return "FP32_MIN"
    if isinstance(default, str) and default:
        return default
    return repr(default)


def signature(function: Callable[..., Any]) -> str:
    """Parameters and defaults, without annotations."""
    parts = []
    for p in inspect.signature(function).parameters.values():
        assert p.kind is p.POSITIONAL_OR_KEYWORD, p
        has = p.default is not p.empty
        parts.append(f"{p.name}={shown(p.default)}" if has else p.name)
    return f"({', '.join(parts)})"


def cases(table: str) -> list[Any]:
    return [
        pytest.param(name, text, id=name)
        for name, text in names.rows(table).items()
    ]


# nl.ds is a class of the extension, which has no signature to look at.
@pytest.mark.parametrize(
    ("name", "text"), [c for c in cases(names.LANGUAGE) if c.id != "ds"]
)
def test_nl_functions_have_the_documented_signature(
    name: str, text: str
) -> None:
    assert signature(getattr(nl, name)) == text


def test_a_dynamic_slice_takes_a_start_and_a_size() -> None:
    assert repr(nl.ds(start=2, size=4)) == repr(nl.ds(2, 4))


@pytest.mark.parametrize("name", names.BINARY)
def test_binary_operators_take_x_y_and_a_dtype(name: str) -> None:
    assert signature(getattr(nl, name)) == "(x, y, dtype=None)"


@pytest.mark.parametrize("name", names.UNARY)
def test_unary_operators_take_x_and_a_dtype(name: str) -> None:
    assert signature(getattr(nl, name)) == "(x, dtype=None)"


@pytest.mark.parametrize(("name", "text"), cases(names.ISA))
def test_nisa_functions_have_the_documented_signature(
    name: str, text: str
) -> None:
    assert signature(getattr(isa, name)) == text


@pytest.mark.parametrize(("name", "text"), cases(names.COLLECTIVES))
def test_collectives_have_the_documented_signature(
    name: str, text: str
) -> None:
    assert signature(getattr(collectives, name)) == text


@pytest.mark.parametrize("name", names.rows(names.TENSOR))
def test_tensors_have_the_documented_methods(name: str) -> None:
    assert callable(getattr(nl.NkiTensor, name))


@pytest.mark.parametrize("name", names.TENSOR_ATTRIBUTES)
def test_tensors_have_the_documented_attributes(name: str) -> None:
    assert hasattr(nl.NkiTensor, name)


def test_no_operation_is_missing_in_the_table_of_names() -> None:
    inside = {"branch", "nop", "psum_reset", "register_alu", "broadcast",
              "send", "recv", "collective_barrier"}
    table = {*names.rows(names.ISA), *names.rows(names.COLLECTIVES)}
    assert {o.name for o in trnemu.operations()} - inside <= table
    assert not [name for name in inside if hasattr(isa, name)]


def test_modules_of_the_checklist_import() -> None:
    for name in (
        "",
        ".language",
        ".isa",
        ".isa.constants",
        ".collectives",
        ".typing",
        ".compiler",
        ".compiler.frontend",
        ".compiler.ncc_driver",
        ".dtype",
        ".tensor",
        ".experimental",
    ):
        importlib.import_module("trnemu.nki" + name)


@pytest.mark.parametrize(
    "name",
    "jit simulate trace language isa collectives typing compiler dtype tensor "
    "experimental NKIObject".split(),
)
def test_what_kernels_take_from_nki_is_there_after_import_nki(
    name: str,
) -> None:
    import trnemu.nki

    assert hasattr(trnemu.nki, name) and name in trnemu.nki.__all__


def test_replica_groups_are_objects_that_kernels_can_take() -> None:
    group = collectives.ReplicaGroup([[0, 1], [2, 3]])
    assert isinstance(group, NKIObject)
    assert group.groups == [[0, 1], [2, 3]]
    assert group == collectives.ReplicaGroup(groups=[[0, 1], [2, 3]])


def test_replica_groups_may_not_overlap() -> None:
    with pytest.raises(Fault, match="rank 1 is in the replica groups twice"):
        collectives.ReplicaGroup([[0, 1], [1, 2]])


def test_annotations_of_tensors_evaluate() -> None:
    def kernel(
        a: typing.tensor,
        b: typing.tensor[128, 512],
        c: typing.mutable_tensor | None,
        d: typing.mutable,
        e: typing.immutable,
        f: nl.ndarray,  # type: ignore[valid-type]
    ) -> None: ...

    assert len(inspect.signature(kernel).parameters) == 6


def test_hints_to_the_compiler_are_recorded_and_change_nothing() -> None:
    @compiler.skip_middle_end_transformations
    @compiler.enable_stack_allocator(log_level=3)
    @compiler.enable_stack_allocator
    @compiler.force_auto_alloc
    def kernel() -> int:
        return 4

    assert kernel() == 4
    assert compiler.hints_of(kernel) == (
        "force_auto_alloc",
        "enable_stack_allocator",
        "enable_stack_allocator(log_level=3)",
        "skip_middle_end_transformations",
    )
    with pytest.raises(TypeError):
        compiler.enable_stack_allocator(level=3)


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: compiler.no_reorder(), "with nl.no_reorder"),
        (lambda: compiler.sbuf.mod_alloc(base_addr=0), "address="),
        (lambda: compiler.sbuf.alloc(None), "address="),
        (lambda: compiler.psum.mod_alloc(base_bank=0), "buffer=nl.psum"),
        (lambda: compiler.psum.auto_alloc(), "leave address= out"),
        (lambda: frontend.ParserFrontend().compile(), "trnemu.nki.trace"),
        (lambda: ncc_driver.CompileOptions(target="trn2"), "trnemu.nki.trace"),
        (lambda: ncc_driver.CompiledKernel(), "trnemu.nki.trace"),
        (lambda: ncc_driver.CompiledKernel.from_frontend(), "nki.trace"),
    ],
)
def test_what_would_place_tiles_or_compile_is_unsupported(
    call: Callable[[], Any], remedy: str
) -> None:
    with pytest.raises(Fault) as caught:
        call()
    assert caught.value.category == "unsupported"
    assert caught.value.id == "nki.compiler"
    assert remedy in caught.value.remedy
