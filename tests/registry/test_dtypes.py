"""Spellings of dtypes: exact, ambiguous, a scheme, or unknown."""

from __future__ import annotations

import json

import pytest

from kernelindex.registry.dtypes import bits_of, resolve_dtype
from tests.support.shared import shared_path


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("torch.float8_e4m3fn", "fp8_e4m3fn"),
        ("torch.float8_e4m3fnuz", "fp8_e4m3fnuz"),
        ("torch.bfloat16", "bf16"),
        ("bfloat16", "bf16"),
        ("half", "fp16"),
        ("torch.float", "fp32"),
        ("INT8", "int8"),
        ("float8_e8m0fnu", "fp8_e8m0"),
        (" bf16 ", "bf16"),
    ],
)
def test_exact_spellings(text: str, dtype: str) -> None:
    match = resolve_dtype(text)
    assert (match.dtype, match.ambiguous, match.layout) == (dtype, (), None)


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [("fp8", "fp8_e4m3fn", 4), ("float", "fp32", 4), ("fp8_e4m3", "fp8_e4m3fn", 2)],
)
def test_a_shared_spelling_is_ambiguous(text: str, first: str, count: int) -> None:
    match = resolve_dtype(text)
    assert match.dtype is None
    assert match.ambiguous[0] == first
    assert len(match.ambiguous) == count


def test_layout_rides_on_an_operand() -> None:
    match = resolve_dtype("f16:column")
    assert (match.dtype, match.layout) == ("fp16", "col_major")
    assert resolve_dtype("f16:row").layout == "row_major"
    assert resolve_dtype("f16:diagonal").dtype is None
    assert resolve_dtype("f16:").dtype is None


@pytest.mark.parametrize("text", ["", "fp", "float16x", "torch", "e4m3fn2", "none", "bf16,fp16"])
def test_unknown_is_an_answer(text: str) -> None:
    match = resolve_dtype(text)
    assert (match.dtype, match.ambiguous, match.scheme, match.key) == (None, (), None, None)


def test_schemes_and_packed_storage_are_not_element_dtypes() -> None:
    for text, scheme in (
        ("nvfp4", "nvfp4"),
        ("mxfp4", "mxfp4"),
        ("UINT4", "uint4"),
        ("fp8_w8a8", "fp8_w8a8"),
        ("torch.float4_e2m1fn_x2", "fp4_e2m1_x2"),
    ):
        match = resolve_dtype(text)
        assert (match.dtype, match.scheme, match.key) == (None, scheme, scheme)


def test_a_source_may_define_its_own_spelling() -> None:
    assert resolve_dtype("fp8_e4m3", dialect="sol-execbench").dtype == "fp8_e4m3fn"
    assert resolve_dtype("fp8_e4m3fnuz", dialect="sol-execbench").dtype == "fp8_e4m3fnuz"
    assert resolve_dtype("fp8_e4m3", dialect="unheard-of").dtype is None


def test_bits() -> None:
    assert bits_of("bf16") == 16
    assert bits_of("nvfp4") == 4
    assert bits_of("fp4_e2m1_x2") == 4
    assert bits_of("fp8_w8a8") is None
    assert bits_of("float") is None


def test_shared_edge_case_e46() -> None:
    wanted = json.loads(shared_path("edge-cases/E46-dtypes.json").read_text())
    for text, expected in wanted.items():
        match = resolve_dtype(text)
        if expected.startswith("ambiguous"):
            assert match.dtype is None
            assert len(match.ambiguous) > 1
        elif expected.endswith("+ layout"):
            assert (match.dtype, match.layout) == (expected.split()[0], "col_major")
        else:
            assert match.dtype == expected
