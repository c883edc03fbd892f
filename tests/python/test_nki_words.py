"""The words of nki.language and nki.isa: operators, dtypes, memories, sizes,
enumerations, and the class of kernels' own objects."""

import copy
import dataclasses
import enum
import importlib
import json
import pickle
import subprocess
from typing import Any

import ml_dtypes
import nki_signatures as names
import numpy as np
import pytest
from cli_kit import BINARY

import trnemu
from trnemu import Dtype
from trnemu.nki import isa
from trnemu.nki import language as nl
from trnemu.nki._object import NKIObject
from trnemu.nki.language import _tokens


@pytest.mark.parametrize("name", names.BINARY + names.UNARY + names.TOKENS)
def test_operators_are_their_names(name: str) -> None:
    token = getattr(nl, name)
    assert isinstance(token, str)
    assert token == name and str(token) == name
    assert repr(token) == f"nl.{name}"
    assert {token: 1}[name] == 1


def test_an_operator_is_one_object_however_it_is_copied() -> None:
    for copied in (
        copy.copy(nl.add),
        copy.deepcopy({"op": nl.add})["op"],
        pickle.loads(pickle.dumps(nl.add)),
    ):
        assert copied is nl.add


@pytest.mark.parametrize("name", names.TOKENS)
def test_a_token_without_a_function_says_so_when_called(name: str) -> None:
    with pytest.raises(TypeError, match=f"nl.{name} is the name of an oper"):
        getattr(nl, name)(1)


@pytest.mark.parametrize("name", names.DTYPES)
def test_dtypes_are_found_by_the_name_of_a_dtype(name: str) -> None:
    dtype = getattr(nl, name)
    assert isinstance(dtype, Dtype) and str(dtype) == name.rstrip("_")
    assert getattr(nl, str(dtype).split(".")[-1]) is dtype
    assert importlib.import_module("trnemu.nki.dtype").__dict__[name] is dtype
    assert {dtype: 1}[nl.__dict__[name]] == 1


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.float32, nl.float32),
        (np.dtype("int8"), nl.int8),
        (ml_dtypes.bfloat16, nl.bfloat16),
        (ml_dtypes.float8_e4m3fn, nl.float8_e4m3fn),
        (bool, nl.bool_),
        ("bool", nl.bool_),
        ("float8e4", nl.float8_e4m3),
        ("float8e5", nl.float8_e5m2),
        ("torch.float16", nl.float16),
        (nl.tfloat32, nl.tfloat32),
    ],
)
def test_dtypes_go_by_the_names_that_others_have_for_them(
    given: Any, dtype: Dtype
) -> None:
    assert _tokens.dtype_of(given) is dtype


@pytest.mark.parametrize(
    "given", [int, float, np.float64, "float64", 32, None, ["float32"], object]
)
def test_a_dtype_the_device_does_not_have_is_refused_with_the_list(
    given: Any,
) -> None:
    with pytest.raises(TypeError, match=r"no dtype of the device; .*bfloat16"):
        _tokens.dtype_of(given)


def test_bool_is_another_name_of_bool_() -> None:
    assert nl.bool is nl.bool_


def test_hbm_is_the_private_one() -> None:
    assert nl.hbm is nl.private_hbm is nl.MemoryRegion.private_hbm
    assert nl.hbm in (nl.hbm, nl.shared_hbm) and nl.hbm != nl.shared_hbm
    assert [r.value for r in nl.MemoryRegion] == [
        "sbuf",
        "psum",
        "private_hbm",
        "shared_hbm",
    ]


@pytest.mark.parametrize(
    ("region", "hbm", "chip", "psum", "sbuf"),
    [
        (nl.sbuf, False, True, False, True),
        (nl.psum, False, True, True, False),
        (nl.hbm, True, False, False, False),
        (nl.shared_hbm, True, False, False, False),
        ("psum", False, True, True, False),
    ],
)
def test_regions_are_told_apart(
    region: Any, hbm: bool, chip: bool, psum: bool, sbuf: bool
) -> None:
    assert nl.is_hbm(region) is hbm and nl.is_on_chip(region) is chip
    assert nl.is_psum(region) is psum and nl.is_sbuf(region) is sbuf


def test_what_is_no_region_is_refused_with_the_list() -> None:
    with pytest.raises(TypeError, match=r"nl\.hbm, nl\.sbuf.*not 'dram'"):
        nl.is_hbm("dram")


# What documents print (nki/api/nki.language.tile_size.rst,
# nki/get-started/about/tiling-overview.rst:98) and, for the last three,
# leanprover/KLR.
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pmax", 128),
        ("psum_fmax", 512),
        ("psum_bank_fmax", 512),
        ("psum_bank_fmax_bytes", 2048),
        ("psum_num_banks", 8),
        ("gemm_stationary_fmax", 128),
        ("gemm_moving_fmax", 512),
        ("bn_stats_fmax", 512),
        ("psum_min_align", 4),
        ("sbuf_min_align", 1),
    ],
)
def test_tile_sizes_are_the_documented_ones(name: str, value: int) -> None:
    assert getattr(nl.tile_size, name) == value


@pytest.mark.parametrize(
    ("platform", "usable", "mebibytes"),
    [("gen2", 180224, 24), ("trn2", 212984, 28), ("trn3", 245752, 32)],
)
def test_sizes_of_sbuf_are_those_of_the_target(
    monkeypatch: pytest.MonkeyPatch, platform: str, usable: int, mebibytes: int
) -> None:
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", platform)
    assert nl.tile_size.total_available_sbuf_size == usable
    assert nl.tile_size.sbuf_fmax_bytes == usable
    assert nl.tile_size.sbuf_fmax == usable // 4
    assert nl.tile_size.sbuf_size_bytes == mebibytes * 2**20


@pytest.mark.parametrize("target", trnemu.targets)
def test_sizes_of_sbuf_are_within_the_emulator_s_own(target: str) -> None:
    report = json.loads(
        subprocess.run(
            [BINARY, "info", "--target", target, "--json"],
            capture_output=True,
            check=True,
        ).stdout
    )
    values = {c["path"]: c["value"] for c in report["constants"]}
    least = values["memory.sbuf_usable_partition_bytes_with_swdge"]
    assert _tokens._USABLE_BYTES[target] <= least
    whole = values["memory.sbuf_partition_bytes"]
    assert _tokens._PARTITION_BYTES[target] == whole


def test_a_transpose_on_the_tensor_engine_keeps_a_bank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE", "true")
    assert nl.tile_size.psum_num_banks == 7
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn1")
    assert nl.tile_size.psum_num_banks == 8


@pytest.mark.parametrize("name", names.ENUMS)
def test_enumerations_have_the_documented_members(name: str) -> None:
    words = getattr(isa, name)
    members = {member.name: member.value for member in words}
    assert members == names.ENUMS[name]
    constants = importlib.import_module("trnemu.nki.isa.constants")
    assert getattr(constants, name) is words
    assert isa.constants is constants


def test_words_are_their_names_and_not_those_of_other_enumerations() -> None:
    assert isa.engine.vector == "vector"
    assert isa.dge_mode(3) is isa.dge_mode.none
    assert isa.engine.unknown != isa.dge_mode.unknown
    assert len({isa.engine.unknown, isa.dge_mode.unknown}) == 2
    assert str.__str__(isa.reduce_cmd.reset_reduce) == "reset_reduce"
    assert pickle.loads(pickle.dumps(isa.engine.dma)) is isa.engine.dma


def test_every_word_is_one_that_the_operations_take() -> None:
    for operation in trnemu.operations():
        for p in operation.parameters:
            words = names.ENUMS.get(p.name.replace("perf", "matmul_perf"))
            if words is not None:
                assert set(p.values) <= set(words), (operation.name, p.name)


def test_engines_have_their_own_names_too() -> None:
    for name in ("tensor", "vector", "scalar", "gpsimd", "unknown"):
        assert getattr(isa, f"{name}_engine") is isa.engine[name]


def test_generations_compare_in_order() -> None:
    assert isa.nc_version.gen2 < isa.nc_version.gen3 < isa.nc_version.gen4


def test_an_object_has_what_it_is_made_with() -> None:
    made = NKIObject(a=1, b="x")
    assert (made.a, made.b) == (1, "x")  # type: ignore[attr-defined]


def test_objects_with_annotations_take_them_by_position() -> None:
    class Config(NKIObject):
        rows: int
        columns: int = 4

    class More(Config):
        depth: int = 5

    assert Config(3).columns == 4 and Config(3, 5).columns == 5
    made = More(1, 2, depth=3)
    assert (made.rows, made.columns, made.depth) == (1, 2, 3)
    assert not hasattr(Config(), "rows")
    with pytest.raises(TypeError, match="takes 2 positional arguments, not 3"):
        Config(1, 2, 3)
    with pytest.raises(TypeError, match="got 'rows' twice"):
        Config(1, rows=2)


def test_objects_can_be_dataclasses_enumerations_and_have_their_own_init() -> (
    None
):
    @dataclasses.dataclass(frozen=True)
    class Frozen(NKIObject):
        a: int
        b: int = 2

    class Kind(NKIObject, enum.Enum):
        one = 1
        two = "second"

    class Own(NKIObject):
        def __init__(self, x: int) -> None:
            self.x = x + 1

    assert Frozen(1) == Frozen(a=1, b=2) and hash(Frozen(1))
    assert Kind(1) is Kind.one and Kind.two.value == "second"
    assert Own(1).x == 2
