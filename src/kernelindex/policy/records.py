"""Record events: every change of a cohort's leader, with its cause.

A leader is an entry that leads alone; where several lines are unbeaten there is none, and a
cohort of one entry has no record. Events are derived from all runs at once, a calendar date
at a time, so neither the order of import nor an order invented within a day matters: a day
changes the leader once or not at all. Only retractions follow what else came that day, for
what they retract was there. A run leaves at the date of the run that superseded it, or when
it was retracted. Entries of one line that cannot be told apart lead together, as that line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from kernelindex.policy.eligibility import Exclusion, exclusions
from kernelindex.policy.entries import NONE_VERIFIED, Entry, build_entry, entry_key
from kernelindex.policy.facts import Direction, RunFacts
from kernelindex.policy.ranking import rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.policy.margins import Tolerance
    from kernelindex.registry.hardware import Product

UNDATED = "9999-99-99"
RETRACTED = 2
STANDING = frozenset({"retracted", "superseded"})


class Cause(StrEnum):
    """What changed the leader."""

    FIRST_COMPARISON = "first_comparison"
    NEW_RUN = "new_run"
    SUPERSESSION = "supersession"
    RETRACTION = "retraction"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEvent:
    """One change of leader.

    ``date``        calendar date of the causing run or correction; None where not known
    ``run_digest``  the run that came or went: the new leader's where it came that day
    ``leader``      entry key and ``leader_run`` its representative; None where several
                    are unbeaten, and then ``unbeaten`` names them
    ``previous``    the entry that led before, if one did
    ``same_day``    another run has the same date; their order is not known
    """

    date: str | None
    cause: Cause
    run_digest: str
    leader: str | None
    leader_run: str | None
    leader_value: float | None
    previous: str | None
    unbeaten: tuple[str, ...]
    same_day: bool


@dataclass(frozen=True, slots=True, order=True)
class _Step:
    """A run coming (``arrives``) or going, in the order they count."""

    date: str
    arrives: bool
    digest: str


def record_events(
    runs: Iterable[RunFacts],
    tolerance: Tolerance,
    *,
    product: Product | None = None,
    retracted_on: Mapping[str, str] | None = None,
) -> tuple[RecordEvent, ...]:
    """The history of one cohort's leader, from all of its runs in any order.

    ``runs`` include superseded and retracted ones; ``retracted_on`` maps a retracted run
    to the calendar date of the correction (after everything else where it has none).
    """
    counted = [run for run in runs if only_corrected(exclusions(run, product))]
    return leader_history(counted, tolerance, retracted_on=retracted_on)


def leader_history(
    runs: Iterable[RunFacts],
    tolerance: Tolerance,
    *,
    retracted_on: Mapping[str, str] | None = None,
    verified: frozenset[str] = NONE_VERIFIED,
) -> tuple[RecordEvent, ...]:
    """``record_events`` of runs known to rank but for a correction, and which are verified."""
    known = {run.digest: run for run in runs}
    if len({entry_key(run) for run in known.values()}) < 2:
        return ()
    steps = _steps(known, retracted_on or {})
    board = _Board(tolerance, _direction(known.values()), verified)
    events: list[RecordEvent] = []
    held: Entry | None = None
    for _, group in groupby(steps, key=lambda step: (step.date, _is_retraction(step, known))):
        day = list(group)
        entries_before = board.size
        for step in day:
            board.apply(known[step.digest], arrives=step.arrives)
        leader = board.leader
        if _is_change(held, leader, board):
            step = _causing(day, held, leader, board, known)
            cause = _cause(step, known[step.digest], entries_before)
            same_day = sum(one.arrives for one in day) > 1
            events.append(_event(step, cause, held, leader, board, same_day=same_day))
            held = leader
    return tuple(events)


def _is_change(held: Entry | None, leader: Entry | None, board: _Board) -> bool:
    """Whether another line leads, or another entry of the line that alone is first now."""
    if held is None or leader is None:
        return held is not leader
    if held.key == leader.key:
        return False
    return held.representative.line.id != leader.representative.line.id or board.leads_alone


def _causing(
    day: Sequence[_Step],
    held: Entry | None,
    leader: Entry | None,
    board: _Board,
    known: Mapping[str, RunFacts],
) -> _Step:
    """The new leader's own run where it came that day, else what moved who leads or led."""
    held_key = _key(held)
    first = {leader.key} if leader else {key for key in board.unbeaten if key != held_key}
    came = [one for one in day if one.arrives and entry_key(known[one.digest]) in first]
    own = [one for one in came if leader and one.digest == leader.representative.digest]
    left = [one for one in day if entry_key(known[one.digest]) == held_key]
    return (own or came or left or list(day))[0]


class _Board:
    """The entries that count at one moment, kept sorted by their representatives."""

    def __init__(
        self, tolerance: Tolerance, direction: Direction, verified: frozenset[str]
    ) -> None:
        self._tolerance = tolerance
        self._verified = verified
        self._sign = -1.0 if direction is Direction.HIGHER else 1.0
        self._runs: dict[str, dict[str, RunFacts]] = {}
        self._entries: dict[str, Entry] = {}
        self._order: list[tuple[float, str]] = []
        self._sampled = False

    @property
    def size(self) -> int:
        """How many entries count."""
        return len(self._order)

    @property
    def leader(self) -> Entry | None:
        """The entry that leads alone, or the first of several of the one line that leads."""
        if self.size < 2:
            return None
        if self._sampled:
            ranking = rank(list(self._entries.values()), self._tolerance)
            if ranking.best is not None:
                return ranking.best.entry
            count = len(ranking.unbeaten)
            sure = all((one.high or 0) + one.kin <= count for one in ranking.ranked[:count])
            return self._first_of_one_line(ranking.unbeaten) if sure else None
        first, second = (self._entries[key] for _, key in self._order[:2])
        if self._tolerance.separates(first.value, second.value):
            return first
        return self._first_of_one_line(self.unbeaten) if first.line.id == second.line.id else None

    @property
    def leads_alone(self) -> bool:
        """Whether one entry alone is unbeaten."""
        return len(self.unbeaten) == 1

    def _first_of_one_line(self, unbeaten: Sequence[str]) -> Entry | None:
        """The first of the unbeaten, where they are of one line and something is behind."""
        first = [self._entries[key] for key in unbeaten]
        lines = {entry.line.id for entry in first}
        return first[0] if len(lines) == 1 and len(first) < self.size else None

    @property
    def unbeaten(self) -> tuple[str, ...]:
        """The keys of the entries nobody is faster than; none where only one counts."""
        if self.size < 2:
            return ()
        if self._sampled:
            return rank(list(self._entries.values()), self._tolerance).unbeaten
        values = [value for value, _ in self._order]
        best = abs(values[0])
        if self._sign > 0:
            count = bisect_right(values, self._tolerance.reach(best))
            return tuple(key for _, key in self._order[:count])
        return tuple(
            key for value, key in self._order if not self._tolerance.separates(best, -value)
        )

    def apply(self, run: RunFacts, *, arrives: bool) -> None:
        """Let a run come or go."""
        key = entry_key(run)
        runs = self._runs.setdefault(key, {})
        self._drop(key)
        if arrives:
            runs[run.digest] = run
            self._sampled = self._sampled or run.samples is not None
        else:
            runs.pop(run.digest, None)
        if runs:
            entry = build_entry(key, list(runs.values()), self._verified)
            self._entries[key] = entry
            insort(self._order, (self._sign * entry.value, key))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            del self._order[bisect_left(self._order, (self._sign * entry.value, key))]


def only_corrected(reasons: Iterable[Exclusion]) -> bool:
    """Whether nothing but a later correction keeps a run from ranking."""
    return all(reason.code in STANDING for reason in reasons)


def _direction(runs: Iterable[RunFacts]) -> Direction:
    for run in runs:
        if run.primary is not None and run.primary.direction is not None:
            return run.primary.direction
    return Direction.LOWER


def _steps(known: Mapping[str, RunFacts], retracted_on: Mapping[str, str]) -> list[_Step]:
    """Arrivals and departures in order; a run gone on the day it came never counted."""
    steps = []
    for run in known.values():
        came = run.observed.date or UNDATED
        went = _departure(run, known, retracted_on)
        if went is not None and went <= came and run.superseded_by is not None:
            continue
        steps.append(_Step(came, True, run.digest))
        if went is not None:
            steps.append(_Step(max(went, came), False, run.digest))
    return sorted(steps, key=lambda step: (step.date, _after_arrival(step, known), step.digest))


def _is_retraction(step: _Step, known: Mapping[str, RunFacts]) -> bool:
    return _after_arrival(step, known) == RETRACTED


def _after_arrival(step: _Step, known: Mapping[str, RunFacts]) -> int:
    """Within a day superseded runs go first, then runs come, then retracted ones go."""
    if step.arrives:
        return 1
    return 0 if known[step.digest].superseded_by is not None else RETRACTED


def _departure(
    run: RunFacts, known: Mapping[str, RunFacts], retracted_on: Mapping[str, str]
) -> str | None:
    dates = []
    if run.superseded_by is not None:
        successor = known.get(run.superseded_by)
        dates.append((successor.observed.date if successor else None) or "")
    if run.retracted is not None:
        dates.append(retracted_on.get(run.digest) or UNDATED)
    return min(dates) if dates else None


def _cause(step: _Step, run: RunFacts, entries_before: int) -> Cause:
    if step.arrives:
        return Cause.FIRST_COMPARISON if entries_before < 2 else Cause.NEW_RUN
    return Cause.SUPERSESSION if run.superseded_by is not None else Cause.RETRACTION


def _event(
    step: _Step,
    cause: Cause,
    held: Entry | None,
    leader: Entry | None,
    board: _Board,
    *,
    same_day: bool,
) -> RecordEvent:
    return RecordEvent(
        date=None if step.date == UNDATED else step.date,
        cause=cause,
        run_digest=step.digest,
        leader=_key(leader),
        leader_run=leader.representative.digest if leader else None,
        leader_value=leader.value if leader else None,
        previous=_key(held),
        unbeaten=() if leader else board.unbeaten,
        same_day=same_day,
    )


def _key(entry: Entry | None) -> str | None:
    return entry.key if entry else None


def leaders(events: Sequence[RecordEvent]) -> tuple[str, ...]:
    """The entries that ever led alone, in order, repeats kept."""
    return tuple(event.leader for event in events if event.leader is not None)
