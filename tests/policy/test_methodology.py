"""The methodology guide says what the code does."""

from __future__ import annotations

import re

import pytest

from kernelindex.policy import doubts, levels, margins, samples
from kernelindex.policy.doubts import CODES
from kernelindex.policy.facts import LEVELS
from tests.support.shared import CHECKOUT

GUIDE = (CHECKOUT / "docs/guides/methodology.md").read_text(encoding="utf-8")


def test_the_table_of_doubts_is_the_one_in_the_code() -> None:
    rows = re.findall(r"^\| ([A-Z_]+) \| ([a-z]+)", GUIDE, flags=re.MULTILINE)
    assert dict(rows) == {code: effect for code, (effect, _) in CODES.items()}
    assert [code for code, _ in rows] == list(CODES)


def test_every_level_is_described_in_order() -> None:
    found = re.findall(r"^\| (reported|reproducible|verified|replicated) \|", GUIDE, re.MULTILINE)
    assert found == [str(level) for level in LEVELS]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (margins.LEAST_TOLERANCE, "the larger of 5 %"),
        (samples.MIN_GENERATIONS, "At least 3 processes"),
        (samples.MIN_ROUNDS, "of 8 rounds each"),
        (doubts.RERUN_SPREAD, "differ by more than 20 %"),
        (doubts.TICK_SHARE, "tick is over 5 % of the value"),
        (doubts.PASS_SHARE, "more than 5 % of full"),
        (doubts.BUSY_SHARE, "less than 80 % of the time"),
        (doubts.CLOCK_SPREAD, "varied by more than 3 %"),
        (levels.REPLICATION_TOLERANCE, "within 3 %, through the"),
    ],
)
def test_numbers_in_the_guide_are_those_in_the_code(value: float, text: str) -> None:
    assert text in re.sub(r"\s+", " ", GUIDE)
    number = float(re.search(r"\d+", text).group())  # type: ignore[union-attr]
    assert number == pytest.approx(value if value > 1 else 100 * value)


def test_named_tests_exist() -> None:
    for path in re.findall(r"`(tests/[\w/]+\.py)`", GUIDE):
        assert (CHECKOUT / path).exists(), path
