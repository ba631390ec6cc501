from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelindex.errors import SourceError
from kernelindex.sources.liger.rows import COLUMNS, BadRecord, Record, read_records
from tests.sources.liger.factories import make_row, write_csv

HEADER = ",".join(COLUMNS).encode() + b"\r\n"
LINE = write_csv(make_row()).removeprefix(HEADER)


def reasons(data: bytes) -> list[str]:
    return [r.reason if isinstance(r, BadRecord) else "row" for r in read_records(data)]


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_either_line_end_gives_the_same_fields(end: str) -> None:
    (record,) = read_records(write_csv(make_row(), end=end))
    assert isinstance(record, Record)
    assert record.fields == make_row()
    assert record.line == 2


def test_a_byte_order_mark_is_no_part_of_the_first_column() -> None:
    (record,) = read_records(b"\xef\xbb\xbf" + write_csv(make_row()))
    assert isinstance(record, Record)
    assert list(record.fields) == list(COLUMNS)


def test_a_mark_in_a_later_line_is_text() -> None:
    second = make_row(kernel_name="\ufeffrms_norm")
    rows = list(read_records(write_csv(make_row(), second)))
    assert isinstance(rows[1], Record)
    assert rows[1].fields["kernel_name"] == "\ufeffrms_norm"


@pytest.mark.parametrize("blank", [b"\r\n", b"\n", b"   \r\n", b"," * 14 + b"\r\n"])
def test_every_kind_of_blank_row_is_counted(blank: bytes) -> None:
    assert reasons(HEADER + LINE + blank + LINE) == ["row", "blank_row", "row"]


def test_quoted_commas_quotes_and_line_ends_stay_in_their_field() -> None:
    label = 'a "b", c\nd'
    (record,) = read_records(write_csv(make_row(x_label=label)))
    assert isinstance(record, Record)
    assert record.fields["x_label"] == label


def test_a_short_or_long_row_is_ragged_and_shifts_nothing() -> None:
    short = b"rms_norm,liger\r\n"
    assert reasons(HEADER + short + LINE.strip() + b",more\r\n" + LINE) == [
        "ragged_row",
        "ragged_row",
        "row",
    ]


def test_a_header_in_the_middle_is_counted() -> None:
    assert reasons(HEADER + LINE + HEADER + LINE) == ["row", "repeated_header", "row"]


def test_bytes_that_are_no_utf8_cost_one_row() -> None:
    assert reasons(HEADER + b"\xff\xfe\r\n" + LINE) == ["not_utf8", "row"]


def test_an_overlong_line_costs_one_row() -> None:
    assert reasons(HEADER + b"x" * (70 << 10) + b"\r\n" + LINE) == ["row_too_long", "row"]


def test_a_quote_that_never_closes_is_counted_and_ends() -> None:
    assert reasons(HEADER + LINE + b'"never closed,\r\n') == ["row", "malformed_row"]


def test_an_unclosed_quote_does_not_hide_the_rest_of_a_long_file() -> None:
    found = reasons(HEADER + b'"open,\r\n' + LINE * 2000)
    assert "malformed_row" in found
    assert found.count("row") > 1000


def test_more_columns_are_kept() -> None:
    data = HEADER.strip() + b",note\r\n" + LINE.strip() + b",hello\r\n"
    (record,) = read_records(data)
    assert isinstance(record, Record)
    assert record.fields["note"] == "hello"


@pytest.mark.parametrize(
    "data",
    [b"", b"\r\n", b"a,b\r\n1,2\r\n", HEADER.replace(b"gpu_name", b"gpu"), b'{"a": 1}'],
)
def test_another_file_is_refused_with_what_is_missing(data: bytes) -> None:
    with pytest.raises(SourceError, match="gpu_name") as refusal:
        list(read_records(data))
    assert refusal.value.code == "source.header"


def test_bytes_that_are_no_text_are_not_called_nothing() -> None:
    with pytest.raises(SourceError, match="first line has no text in UTF-8; wanted"):
        list(read_records(b"PK\x03\x04\xff\n\xfe"))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=8))
def test_hostile_lines_end_in_outcomes(lines: list[bytes]) -> None:
    for outcome in read_records(HEADER + b"\n".join(lines)):
        assert isinstance(outcome, Record | BadRecord)
