"""The numbers behind a verdict on two runs, as every surface prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import significant
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


def pair_numbers(pair: PairVerdict) -> PairNumbers | None:
    """The numbers of a verdict that samples gave; none where no samples were compared."""
    by_value = TOLERANCES.intersection(pair.reasons)
    if pair.margin is None or pair.ratio is None or by_value:
        return None
    interval = NONE
    if pair.low is not None and pair.high is not None:
        interval = f"{significant(pair.low, 4)} to {significant(pair.high, 4)}"
    return PairNumbers(
        ratio=significant(pair.ratio, 4),
        interval=interval,
        margin=f"{significant(100 * pair.margin, 2)} %",
        verdict=pair.verdict,
    )
