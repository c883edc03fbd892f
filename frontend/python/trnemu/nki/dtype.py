"""nki.dtype: the dtypes of nki.language, as a module of their own. As an
annotation (`x: nki.dtype`) it stands for any of them."""

from trnemu.nki.language._tokens import (
    bfloat16,
    bool_,
    float4_e2m1fn_x4,
    float8_e4m3,
    float8_e4m3fn,
    float8_e4m3fn_x4,
    float8_e5m2,
    float8_e5m2_x4,
    float8_e8m0fnu,
    float16,
    float32,
    int8,
    int16,
    int32,
    tfloat32,
    uint8,
    uint16,
    uint32,
)

__all__ = [
    "bfloat16",
    "bool_",
    "float16",
    "float32",
    "float4_e2m1fn_x4",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e4m3fn_x4",
    "float8_e5m2",
    "float8_e5m2_x4",
    "float8_e8m0fnu",
    "int16",
    "int32",
    "int8",
    "tfloat32",
    "uint16",
    "uint32",
    "uint8",
]
