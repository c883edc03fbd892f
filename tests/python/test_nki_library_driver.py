"""bench/nki_library.py, as far as it goes without the library."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

BENCH = pathlib.Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import nki_library  # noqa: E402
import nki_library_stand_ins as stand_ins  # noqa: E402


@pytest.mark.parametrize("name, narrow", [
    ("float8_e4m3fn_x4", ml_dtypes.float8_e4m3fn),
    ("float8_e5m2_x4", ml_dtypes.float8_e5m2),
    ("float4_e2m1fn_x4", ml_dtypes.float4_e2m1fn),
])
def test_a_cast_to_a_packed_type_and_back_rounds_once(
    name: str, narrow: Any
) -> None:
    x = np.linspace(-6, 6, 24, dtype=np.float32).reshape(2, 12)
    packed = stand_ins.static_cast(x, name)
    assert packed.shape == (2, 3) and packed.dtype.names == (name,)
    back = stand_ins.static_cast(packed, np.float32)
    assert (back == x.astype(narrow).astype(np.float32)).all()


def test_the_first_element_is_in_the_low_bits() -> None:
    packed = stand_ins.static_cast(
        np.array([[1.0, 0, 0, 2.0]]), "float8_e4m3fn_x4")
    # 1.0 is 0x38 and 2.0 is 0x40: a bias of 7, three bits of mantissa.
    assert packed.view(np.uint32)[0, 0] == 0x40000038


@pytest.mark.parametrize("dtype, wanted", [
    ("float32", np.float32), ("bfloat16", ml_dtypes.bfloat16),
    ("float8e4", ml_dtypes.float8_e4m3), (np.int8, np.int8),
])
def test_dtypes_by_name_are_numpy_s(dtype: Any, wanted: Any) -> None:
    assert stand_ins.numpy_dtype(dtype) == np.dtype(wanted)
    assert stand_ins.is_float_type(dtype) == (wanted is not np.int8)


@pytest.mark.parametrize("more", [
    ["--filter", "x"], ["--target", "trn2"], ["--test", "x"],
])
def test_a_part_of_the_table_is_not_written(
    more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        nki_library.arguments(["--library", "x", "--write", "y", *more])
    assert "whole table" in capsys.readouterr().err


def test_a_folder_without_the_library_is_named(tmp_path: Any) -> None:
    with pytest.raises(SystemExit, match="src/nkilib_src"):
        nki_library.main(["--library", str(tmp_path)])
