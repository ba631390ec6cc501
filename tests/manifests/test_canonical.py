from __future__ import annotations

import json
import re
import struct
import uuid
from enum import Enum

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernelindex.errors import CanonicalError
from kernelindex.manifests import _strict_json, canonical, digest_of
from kernelindex.manifests.canonical import MAX_BYTES, dumps, loads, reread

# Floats where ECMAScript, Python and orjson switch notation, and their neighbours.
FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**60), 2**60).map(float),
    st.builds(lambda m, e: float(f"{m}e{e}"), st.integers(-(10**17), 10**17), st.integers(-30, 10)),
)
# Letters around U+E000, where UTF-16 and UTF-8 order differ, and JSON's own punctuation.
TEXTS = st.one_of(
    st.text(),
    st.text(alphabet='":,[]{}\\/.0e1- \n\x00\x1f\x7f\u2028é\ud7ff\ue000\uffff\U00010000😀'),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), FLOATS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(TEXTS, inner, max_size=6)),
    max_leaves=30,
)


@given(VALUES)
@settings(max_examples=100)
@example([1.0, -0.0, 1e16, 1e-6, 1e-7, 1e21, 123456789.5])
@example({"\ue000": 1, "\U00010000": 2})
@example({"a": [0.1, 2.0], ":1.0,": None})
def test_dumps_gives_the_bytes_of_rfc8785(value: object) -> None:
    assert dumps(value) == rfc8785.dumps(value)


@given(VALUES)
@settings(max_examples=100)
@example([9007199254740992.0, 1e20, -1e18])
def test_written_text_is_read_back_and_written_the_same(value: object) -> None:
    written = dumps(value)
    assert reread(written) == value
    assert dumps(reread(written.decode())) == written


@given(VALUES)
@settings(max_examples=80)
def test_dumps_after_loads_changes_nothing(value: object) -> None:
    written = dumps(value)
    read = read_or_code(written)
    # A double of 2^53 or more is written as an integer token, which strict reading refuses.
    if read == b"canonical.integer_range":
        assert re.search(rb"[0-9]{16}", written)
    else:
        assert dumps(read) == written
        assert loads(written.decode()) == read


def read_or_code(written: bytes) -> object:
    try:
        return loads(written)
    except CanonicalError as error:
        return error.code.encode()


@pytest.mark.slow
@given(VALUES)
@settings(max_examples=3_000, deadline=None)
def test_dumps_gives_the_bytes_of_rfc8785_at_length(value: object) -> None:
    assert dumps(value) == rfc8785.dumps(value)


@pytest.mark.slow
@given(st.lists(FLOATS, min_size=1, max_size=200))
@settings(max_examples=1_000, deadline=None)
def test_numbers_are_written_as_rfc8785_writes_them(numbers: list[float]) -> None:
    assert dumps(numbers) == rfc8785.dumps(numbers)


# RFC 8785, appendix B: IEEE 754 bits and their text.
APPENDIX_B = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), APPENDIX_B.items())
def test_numbers_are_written_as_in_the_rfc(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert dumps(number) == text.encode()
    assert dumps({"n": [number]}) == f'{{"n":[{text}]}}'.encode()


def test_a_digest_is_sha256_of_the_canonical_bytes() -> None:
    # printf '{"a":[1,true],"b":"x"}' | sha256sum
    expected = "sha256:840356ff5ef245669d78940c5345c77f291c7ecb3f850515822005da36b2cb0c"
    assert digest_of({"b": "x", "a": [1.0, True]}) == expected


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (float("nan"), "canonical.not_finite"),
        ({"a": [float("inf")]}, "canonical.not_finite"),
        (2**53, "canonical.integer_range"),
        ([-(2**53)], "canonical.integer_range"),
        ("\ud800", "canonical.surrogate"),
        ({"\udfff": 1}, "canonical.surrogate"),
        ({1: 2}, "canonical.not_json"),
        (uuid.UUID(int=0), "canonical.not_json"),
        ([Colour.RED], "canonical.not_json"),
        ({1, 2}, "canonical.not_json"),
    ],
)
def test_what_has_no_canonical_form_is_refused(value: object, code: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        dumps(value)
    assert caught.value.code == code


def test_a_circle_is_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(CanonicalError, match="too deeply"):
        dumps(circle)


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ('{"a": {"b": 1, "b": 1}}', "duplicate_key", "$.a.b"),
        ('[{"a": 1, "\\u0061": 2}]', "duplicate_key", "$[0].a"),
        ('{"x": ":", "x": "\\u003a"}', "duplicate_key", "$.x"),
        ('{"a": NaN}', "not_finite", "$.a"),
        ("[-Infinity]", "not_finite", "$[0]"),
        ("1e400", "not_finite", "$"),
        ("9007199254740992", "integer_range", "$"),
        ('{"a": [-9007199254740993]}', "integer_range", "$.a[0]"),
        ("9" * 5000, "integer_range", "$"),
        ('{"a": "\\ud800"}', "surrogate", "$.a"),
        ('{"a": {"\\udc00": 1}}', "surrogate", "$.a"),
        ('"\\ud83d\\ud83d"', "surrogate", "$"),
        ("[" * 65 + "]" * 65, "too_deep", "$" + "[0]" * 64),
        ("[" * 200_000, "too_deep", "$"),
        ("", "syntax", "$"),
        ("\ufeff{}", "syntax", "$"),
        ("{} {}", "syntax", "$"),
        ("01", "syntax", "$"),
        ("[1,]", "syntax", "$"),
        ('"\t"', "syntax", "$"),
        ("{'a': 1}", "syntax", "$"),
        (b'"\xff"', "encoding", "$"),
        (b'"\xed\xa0\x80"', "encoding", "$"),
        ('{"a":1}'.encode("utf-16"), "encoding", "$"),
        ("\ud800", "surrogate", "$"),
    ],
)
def test_what_is_not_strict_is_refused(text: bytes | str, code: str, path: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        loads(text)
    assert caught.value.code == f"canonical.{code}"
    assert caught.value.details["path"] == path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e20", 1e20),
        ("9007199254740991", 2**53 - 1),
        ("123456789012345678.5", 123456789012345678.5),
        ("1E-400", 0.0),
        ('"\\ud83d\\ude00"', "😀"),
        ("[" * 64 + "]" * 64, None),
        (' {"a" : "\\u003a:" , "b":[ ]}\n', {"a": "::", "b": []}),
        ('{"a": {"a": 1}, "b": {"a": 2}}', {"a": {"a": 1}, "b": {"a": 2}}),
    ],
)
def test_what_is_strict_is_read(text: str, value: object) -> None:
    read = loads(text)
    if value is not None:
        assert read == value
    assert type(read) is type(_strict_json.read(text.encode()))


def test_the_size_limit_is_one_mebibyte() -> None:
    most = b'"' + b"x" * (MAX_BYTES - 2) + b'"'
    assert len(str(loads(most))) == MAX_BYTES - 2
    with pytest.raises(CanonicalError, match="1048577 bytes where at most 1048576"):
        loads(most + b" ")
    assert loads(most + b" ", max_bytes=MAX_BYTES + 1) == "x" * (MAX_BYTES - 2)


JSON_PIECES = st.sampled_from(
    [
        b"{", b"}", b"[", b"]", b":", b",", b'"a"', b'"b"', b'"\\u0061"', b'"\\"', b"1", b"-0",
        b"1.0", b"1e5", b"0.1", b"9007199254740993", b"12345678901234567", b"1e999", b"null",
        b"true", b"NaN", b" ", b"\xc3\xa9", b'"\xee\x80\x80"', b'"\\ud800"', b'{"a":1,"a":2}',
        b'{"a":[1.5,{"b":"x:y"}]}',
    ]
)  # fmt: skip


@given(st.lists(JSON_PIECES, max_size=12).map(b"".join))
@settings(max_examples=300)
def test_fast_reading_agrees_with_plain_reading(raw: bytes) -> None:
    fast = canonical._read_fast(raw)
    if fast is not canonical._UNDECIDED:
        plain = _strict_json.read(raw)
        assert repr(plain).replace("-0.0", "0") == repr(fast).replace("-0.0", "0")


@given(VALUES, st.booleans())
@settings(max_examples=100)
def test_fast_reading_takes_ordinary_text(value: object, pretty: bool) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1 if pretty else None).encode()
    fast = canonical._read_fast(text)
    if fast is not canonical._UNDECIDED:
        assert fast == _strict_json.read(text)


def test_the_fast_paths_are_taken() -> None:
    raw = b'{"a":[1,2.5,{"b":"x"}],"c":"\xc3\xa9"}'
    assert canonical._read_fast(raw) is not canonical._UNDECIDED
    assert canonical._write_fast(loads(raw)) == raw
    many = b"[" + b",".join([b"[]"] * 100) + b"]"
    assert canonical._read_fast(many) is not canonical._UNDECIDED
