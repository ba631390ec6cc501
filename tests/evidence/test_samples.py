"""Samples against the numbers of a run."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from kernelindex.evidence import samples
from kernelindex.evidence.samples import read_samples, read_series, sample_problems, summarize

ROWS = [[[1.0, 3.0, 2.0], [4.0]], [[10.0, 20.0]]]
RUN = {
    "timing": {
        "samples": 6,
        "latencyNs": {"median": 4},
        "roundMediansNs": [[2, 4], [15]],
    },
    "samples": {"count": 6},
}


def packed(value: Any) -> bytes:
    return gzip.compress(json.dumps(value).encode(), mtime=0)


def problems(run: dict[str, Any], rows: Any = ROWS) -> list[str]:
    return list(sample_problems(run, packed({"samplesNs": rows})))


def test_the_numbers_of_samples_by_hand() -> None:
    found = summarize(read_samples({"samplesNs": ROWS}))
    assert (found.count, found.median_ns) == (6, 3.5)
    assert found.round_medians_ns == ((2.0, 4.0), (15.0,))


def test_a_run_that_says_what_its_samples_say_has_no_problem() -> None:
    assert problems(RUN) == []
    assert problems(RUN, [*ROWS, [], [[]]]) == []
    assert problems(RUN, [None, *ROWS, [None, []]]) == []


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"samples": {"count": 7}}, "samples.count is 7, there are 6"),
        ({"timing": {**RUN["timing"], "samples": 5}}, "timing.samples is 5"),
        ({"timing": {**RUN["timing"], "latencyNs": {"median": 5}}}, "latencyNs.median is 5"),
        ({"timing": {**RUN["timing"], "roundMediansNs": [[2, 4], [16]]}}, "roundMediansNs"),
        ({"timing": {**RUN["timing"], "roundMediansNs": [[2, 4]]}}, "roundMediansNs"),
        ({"timing": {**RUN["timing"], "roundMediansNs": [[2, 4, 4], [15]]}}, "roundMediansNs"),
    ],
)
def test_each_number_that_does_not_follow_is_said(changes: dict[str, Any], word: str) -> None:
    (found,) = problems(RUN | changes)
    assert word in found


def test_a_time_without_samples_is_said() -> None:
    assert problems({"timing": RUN["timing"]}, [])[-1] == "it states a time and has no samples"


@pytest.mark.parametrize(
    "rows", [[[[0.0]]], [[[-1.0]]], [[["1"]]], [[[True]]], [[[None]]], [[3.0]], "x", [[[1e999]]]]
)
def test_samples_that_are_no_positive_numbers_are_refused(rows: Any) -> None:
    text = json.dumps({"samplesNs": rows}).replace("Infinity", "1e999").encode()
    (found, *_) = sample_problems(RUN, gzip.compress(text, mtime=0))
    assert "cannot be read" in found


def test_a_bomb_a_tail_and_a_torn_stream_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "MAX_UNPACKED", 1000)
    good = packed({"samplesNs": []})
    for data in (gzip.compress(b" " * 10_000), good + b"x", good + good, good[:-4], b"nothing"):
        with pytest.raises(ValueError, match=r"unpack|gzip"):
            read_series(data)
