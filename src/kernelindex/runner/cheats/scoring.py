"""What became of each cheat and twin, against what the catalogue says must."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.stats import median

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.runner.cheats.catalogue import Entry

UNHARMED = frozenset(("passed", "unstable"))
# A contained cheat's median is at least this share of its twin's. On a host other work adds to
# either median, a half and more: there the twin's fastest sample is the measure, which it cannot
# raise, and clocks that step account for the rest.
LEAST_SHARE = 0.9
LEAST_SHARE_ON_HOST = 0.6


@dataclass(frozen=True, slots=True)
class Outcome:
    """A candidate's worst series: its status, reason and text; of all samples median and least."""

    status: str
    reason: str
    text: str
    median_ns: float | None
    fastest_ns: float | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against it."""
        return self.status in UNHARMED


@dataclass(frozen=True, slots=True)
class Score:
    """One entry's result: ``caught`` as the catalogue says, ``exact`` with its first code."""

    entry: str
    kind: str
    caught: bool
    exact: bool
    twin_unharmed: bool
    seen: str
    twin_seen: str

    @property
    def right(self) -> bool:
        """Whether cheat and twin both got what they must."""
        return self.caught and self.twin_unharmed


def outcome_of(series: Iterable[Mapping[str, Any]]) -> Outcome:
    """The first series that did not pass, else the first."""
    rows = list(series)
    failed = [one for one in rows if one["status"] not in UNHARMED]
    worst = (failed or rows)[0]
    samples = [x for one in rows for rounds in one["samplesNs"] for r in rounds for x in r]
    return Outcome(
        status=worst["status"],
        reason=worst.get("reason") or "",
        text=worst.get("text") or "",
        median_ns=median(samples) if samples else None,
        fastest_ns=min(samples, default=None),
    )


def score(entry: Entry, cheat: Outcome, twin: Outcome, *, on_host: bool = False) -> Score:
    """Hold one entry's two outcomes against the catalogue."""
    if entry.kind == "awkward":
        caught = exact = cheat.status == entry.status and cheat.reason == (entry.code or "")
        caught = caught or (entry.status == "passed" and cheat.passed)
    elif entry.status is None:
        caught = exact = _contained(entry, cheat, twin, on_host=on_host)
    else:
        caught = not cheat.passed and cheat.reason in entry.codes
        exact = cheat.status == entry.status and cheat.reason == entry.code
    return Score(
        entry=entry.id,
        kind=entry.kind,
        caught=caught,
        exact=exact,
        twin_unharmed=twin.passed,
        seen=_seen(cheat),
        twin_seen=_seen(twin),
    )


def _contained(entry: Entry, cheat: Outcome, twin: Outcome, *, on_host: bool) -> bool:
    if not cheat.passed:
        return cheat.reason in entry.also
    honest_ns = twin.fastest_ns if on_host else twin.median_ns
    if cheat.median_ns is None or honest_ns is None:
        return False
    return cheat.median_ns >= (LEAST_SHARE_ON_HOST if on_host else LEAST_SHARE) * honest_ns


def _seen(outcome: Outcome) -> str:
    return f"{outcome.status} ({outcome.reason})" if outcome.reason else outcome.status


def table(scores: Sequence[Score]) -> str:
    """A line an entry, and the counts at the end."""
    width = max(len(one.entry) for one in scores)
    lines = [
        f"{'ok  ' if one.right else 'MISS'} {one.entry:<{width}}  {one.seen}"
        + ("" if one.twin_unharmed else f"   TWIN: {one.twin_seen}")
        for one in scores
    ]
    cheats = [one for one in scores if one.kind == "cheat"]
    awkward = [one for one in scores if one.kind == "awkward"]
    lines.append(
        f"{sum(one.caught for one in cheats)} of {len(cheats)} cheats caught, "
        f"{sum(one.exact for one in cheats)} by their first code; "
        f"{sum(one.caught for one in awkward)} of {len(awkward)} awkward ones as they must; "
        f"{sum(not one.twin_unharmed for one in scores)} twins accused or harmed"
    )
    return "\n".join(lines)
