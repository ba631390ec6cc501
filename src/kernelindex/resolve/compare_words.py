"""The numbers behind a verdict on two runs, as every surface prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.columns import show_digits
from kernelindex.resolve.wording import short_revision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.dossier import PairVerdict, RunLine

NONE = "none"
TOLERANCES = frozenset({"beyond_tolerance", "within_tolerance"})
"""Reasons of verdicts on single values, which have a tolerance and no margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairNumbers:
    """Ratio, its 95 % interval, and the margin that the interval is held against, in words."""

    ratio: str
    interval: str
    margin: str
    verdict: str

    @property
    def text(self) -> str:
        """All of them on one line."""
        return (
            f"ratio {self.ratio}, 95 % interval {self.interval}, margin {self.margin}:"
            f" {self.verdict}"
        )


def apart_words(runs: Sequence[RunLine], *, with_hardware: bool = True) -> list[str]:
    """For each run what tells it from others of its name: ``sustained``; empty if nothing does."""
    told = [_told(run, with_hardware=with_hardware) for run in runs]
    found = []
    for run, own in zip(runs, told, strict=True):
        name = run.implementation.title
        namesakes = [
            set(one)
            for other, one in zip(runs, told, strict=True)
            if other.implementation.title == name
        ]
        found.append(", ".join(part for part in own if not all(part in one for one in namesakes)))
    return found


def _told(run: RunLine, *, with_hardware: bool) -> list[str]:
    """Pass, regime, revision and GPU, part by part."""
    timed = f"{run.timed_pass} pass" if run.timed_pass != "unstated" else "no pass stated"
    parts = [timed, *run.regime.split(", "), short_revision(run.revision), run.observed or ""]
    return [*filter(None, parts), *([run.hardware] if with_hardware else [])]


def pair_numbers(pairs: Sequence[PairVerdict]) -> list[PairNumbers | None]:
    """The numbers of verdicts, column by column; none where no samples were compared."""
    numbers = [one if _is_measured(one) else None for one in pairs]
    ratios = show_digits([one.ratio if one else None for one in numbers], 4)
    ends = [end for one in numbers for end in ((one.low, one.high) if one else (None, None))]
    shown = show_digits(ends, 4)
    margins = show_digits([100 * (one.margin or 0.0) if one else None for one in numbers], 2)
    return [
        PairNumbers(
            ratio=ratio,
            interval=f"{low} to {high}" if low and high else NONE,
            margin=f"{margin} %",
            verdict=one.verdict,
        )
        if one
        else None
        for one, ratio, low, high, margin in zip(
            numbers, ratios, shown[::2], shown[1::2], margins, strict=True
        )
    ]


def _is_measured(pair: PairVerdict) -> bool:
    """Whether samples gave the verdict, not a tolerance of single values."""
    by_value = TOLERANCES.intersection(pair.reasons)
    return pair.margin is not None and pair.ratio is not None and not by_value
