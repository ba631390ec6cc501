"""Summary and assumptions count shapes alike, and say where they did not count all."""

from __future__ import annotations

import pytest

from kernelindex.catalog.rows import CohortRow
from kernelindex.resolve import Answer, ask_text
from kernelindex.resolve.findings import READ_LIMIT
from kernelindex.resolve.shapes import shape_words
from tests.resolve.factories import RECORD, FakeCatalog, cohort_row, entry_row

UNSTATED = {"axes": {}, "timed_pass": "unstated"}


def asked(rows: list[CohortRow]) -> Answer:
    return ask_text(FakeCatalog([(row, [entry_row(row)]) for row in rows]), "fused-moe")


def shape(tokens: int, **changes: object) -> CohortRow:
    return cohort_row(f"at {tokens}{changes}", axes={**RECORD, "tokens": tokens}, **changes)


def suite(name: str) -> CohortRow:
    return cohort_row(name, distribution=name, **UNSTATED)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([shape(1)], "1 shape"),
        ([shape(1), shape(1, dtypes={"x": "fp16"}), shape(2)], "2 shapes"),
        ([suite("a")], "1 suite of shapes"),
        ([shape(1), suite("a"), suite("b")], "1 shape and 2 suites of shapes"),
        ([shape(1), shape(1, operation="softmax")], "2 shapes"),
    ],
)
def test_a_shape_is_its_axes_and_a_suite_is_no_shape(rows: list[CohortRow], said: str) -> None:
    assert shape_words(rows) == said


def test_summary_and_assumption_count_alike() -> None:
    answer = asked([*(shape(tokens) for tokens in (1, 2, 4, 8)), suite("a"), suite("b")])
    said = "4 shapes and 2 suites of shapes"
    assert answer.summary.startswith(
        f"6 groups fit, never ranked together: {said}, backward pass (2 groups state none), on "
    )
    (axes,) = [one.text for one in answer.assumptions if one.code == "axes_open"]
    assert axes == f"tokens not given: {said} fit; each is answered on its own."


def test_what_was_not_read_is_not_counted_as_if_it_were() -> None:
    answer = asked([*(shape(tokens) for tokens in range(1, READ_LIMIT + 9)), suite("z")])
    assert answer.summary.startswith(
        f"At least {READ_LIMIT} groups fit, never ranked together: at least {READ_LIMIT} shapes, "
    )
    said = [one.text for one in answer.assumptions]
    assert (
        f"tokens not given: at least {READ_LIMIT} shapes fit; each is answered on its own." in said
    )
    assert "No pass was asked for; only backward was read of what was measured." in said
