"""What a refused JSON value is said to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from kernelindex.runner.dataclass_json import ShapeError, from_json


@dataclass(frozen=True)
class Between:
    at_least: int
    at_most: int
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.at_least > self.at_most:
            raise ValueError("atLeast <= atMost")


def refusal(value: object) -> str:
    with pytest.raises(ShapeError) as refused:
        from_json(Between, value)
    return str(refused.value)


def test_a_small_object_is_shown_as_it_was_written() -> None:
    said = refusal({"atLeast": 2, "atMost": 1})
    assert said == "the document: saw {'atLeast': 2, 'atMost': 1}, wanted atLeast <= atMost"


def test_a_large_object_is_shown_by_its_keys() -> None:
    said = refusal({"atLeast": 2, "atMost": 1, "notes": {"a": "x" * 500}})
    assert said == (
        "the document: saw an object with atLeast, atMost, notes, wanted atLeast <= atMost"
    )


@pytest.mark.parametrize("value", [dict.fromkeys(map(str, range(99)), 1), "x" * 99, [1] * 99])
def test_what_is_shown_has_at_most_80_letters(value: object) -> None:
    said = refusal({"atLeast": value, "atMost": 1})
    shown = said.removeprefix("atLeast: saw ").removesuffix(", wanted a whole number")
    assert len(shown) == 80
    assert shown.endswith("...")
