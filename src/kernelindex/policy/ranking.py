"""Rank as a range: what the verdicts of a cohort leave possible.

With verdicts decided by value alone (reported numbers), the range is
``[1 + #FASTER, N - #SLOWER]``. Where samples leave a pair UNCLEAR although one value is
better by more than the margin, the one behind keeps that against it: otherwise adding
noise to a run would improve the better end of its range. Of revisions of one line that
different batches measured and nothing tells apart, the newest of the soundest stands for the
line: the others are no rivals of it, nor of what that newest is decidedly behind.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from kernelindex.policy.entries import newest_batch, paired_runs, value_of
from kernelindex.policy.facts import Direction
from kernelindex.policy.verdicts import (
    Verdict,
    VerdictKind,
    compare_in_cohort,
    correct_family,
    invert,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.policy.entries import Entry
    from kernelindex.policy.margins import Tolerance


DECIDED = (VerdictKind.FASTER, VerdictKind.SLOWER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One entry in its place.

    ``position``         1-based place in the list, by value and then key, but for who leads alone
                         and the newest of the first's line: for display only
    ``low``, ``high``    the rank range; None for the only result of a cohort
    ``kin``              older entries of its own line that nothing tells from it: they do not
                         widen its range
    ``tie_group``        equal for entries shown to be SAME; None otherwise
    ``ratio_to_leader``  worse over better value against the first of the list, of the runs that
                         ``to_leader`` is drawn from
    ``to_leader``        this entry against the first of the list
    """

    entry: Entry
    position: int
    low: int | None
    high: int | None
    tie_group: int | None
    ratio_to_leader: float | None
    to_leader: Verdict | None
    kin: int = 0

    @property
    def best(self) -> bool:
        """Whether this entry alone leads: a range of 1 to 1."""
        return self.low == 1 and self.high == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """A judged list. ``unbeaten`` are keys nobody is FASTER than, in list order."""

    ranked: tuple[Ranked, ...]
    only_result: bool
    unbeaten: tuple[str, ...]

    @property
    def best(self) -> Ranked | None:
        """The entry that leads alone, if one does."""
        return next((one for one in self.ranked if one.best), None)


@dataclass(frozen=True, slots=True)
class _Standing:
    """What the verdicts say of one entry: how many beat it, it beats, are ahead of it; its kin.

    ``by_line``     how many it beats by beating the newest of their line
    ``spoken_for``  how many beat it so
    """

    faster: int
    slower: int
    ahead: int
    kin: int = 0
    by_line: int = 0
    spoken_for: int = 0

    @property
    def beaten(self) -> bool:
        return bool(self.faster or self.spoken_for)

    @property
    def rivals_behind(self) -> int:
        """How many cannot be ahead of it."""
        return self.slower + self.by_line + self.kin


def rank(entries: Sequence[Entry], tolerance: Tolerance) -> Ranking:
    """Rank the entries of one cohort; the order they come in does not matter."""
    ordered = _newest_of_line_first(sort_entries(entries), tolerance)
    if len(ordered) < 2:
        return _only_result(ordered)
    pairs: dict[tuple[int, int], Verdict] = {}
    if any(entry.representative.samples for entry in ordered):
        pairs = judge_pairs(ordered, tolerance)
        standings = _standings_by_pairs(ordered, pairs)
        if (first := _alone(standings)) > 0:
            ordered = [ordered[first], *ordered[:first], *ordered[first + 1 :]]
            pairs = judge_pairs(ordered, tolerance)
            standings = _standings_by_pairs(ordered, pairs)
    else:
        standings = _standings_by_value(ordered, tolerance)
    ties = _tie_groups(len(ordered), pairs)
    ranked = tuple(
        _place(index, ordered, standing, ties.get(index), pairs, tolerance)
        for index, standing in enumerate(standings)
    )
    unbeaten = tuple(
        entry.key for entry, standing in zip(ordered, standings, strict=True) if not standing.beaten
    )
    return Ranking(ranked=ranked, only_result=False, unbeaten=unbeaten)


def sort_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Best value first; equal values by key, so that the order is always the same."""
    sign = -1.0 if entries and entries[0].direction is Direction.HIGHER else 1.0
    return sorted(entries, key=lambda entry: (sign * entry.value, entry.key))


def _newest_of_line_first(ordered: list[Entry], tolerance: Tolerance) -> list[Entry]:
    """Of measured revisions that nothing tells from the first, the newest leads the list.

    The others were measured beside it; an older revision's batch may hold none of them.
    """
    first = 0
    for index in range(1, len(ordered)):
        if _newer_of_line(ordered, first, index) == index:
            verdict = compare_in_cohort(ordered[0], ordered[index], tolerance)
            first = first if verdict.kind in DECIDED else index
    return [ordered[first], *ordered[:first], *ordered[first + 1 :]] if ordered else []


def judge_pairs(entries: Sequence[Entry], tolerance: Tolerance) -> dict[tuple[int, int], Verdict]:
    """Every pair (i < j) of entries judged, corrected as one family."""
    indexes = list(combinations(range(len(entries)), 2))
    verdicts = [compare_in_cohort(entries[i], entries[j], tolerance) for i, j in indexes]
    return dict(zip(indexes, correct_family(verdicts), strict=True))


def _only_result(ordered: list[Entry]) -> Ranking:
    ranked = tuple(
        Ranked(
            entry=entry,
            position=1,
            low=None,
            high=None,
            tie_group=None,
            ratio_to_leader=None,
            to_leader=None,
        )
        for entry in ordered
    )
    return Ranking(ranked=ranked, only_result=bool(ranked), unbeaten=())


def _standings_by_value(ordered: list[Entry], tolerance: Tolerance) -> list[_Standing]:
    """Count decisive differences by bisection: N log N for cohorts of thousands."""
    values = sorted(entry.value for entry in ordered)
    reaches = [tolerance.reach(value) for value in values]
    standings = []
    for entry in ordered:
        below = bisect_left(reaches, entry.value)
        above = len(values) - bisect_right(values, tolerance.reach(entry.value))
        if entry.direction is Direction.HIGHER:
            below, above = above, below
        standings.append(_Standing(below, above, below))
    return standings


def _alone(standings: Sequence[_Standing]) -> int:
    """The entry that is ahead of all others, wherever its value puts it; 0 where none is.

    A value of a batch that may not decide can be better than the value of who leads.
    """
    last = len(standings) - 1
    return next((i for i, one in enumerate(standings) if one.rivals_behind == last), 0)


def _standings_by_pairs(
    ordered: list[Entry], pairs: dict[tuple[int, int], Verdict]
) -> list[_Standing]:
    faster, slower, ahead, kin, by_line, spoken_for = ([0] * len(ordered) for _ in range(6))
    stands_for = _stand_ins(ordered, pairs)
    for (i, j), verdict in pairs.items():
        if verdict.kind is VerdictKind.FASTER:
            slower[i] += 1
            faster[j] += 1
        elif verdict.kind is VerdictKind.SLOWER:
            slower[j] += 1
            faster[i] += 1
        behind = (j if verdict.lean > 0 else i) if verdict.lean else None
        if verdict.kind not in DECIDED and (newer := _newer_of_line(ordered, i, j)) is not None:
            kin[newer] += 1
            behind = None if behind == newer else behind
        elif (beaten := _beaten_by_line(pairs, stands_for, i, j)) is not None:
            spoken_for[beaten] += 1
            by_line[i + j - beaten] += 1
            behind = beaten
        if behind is not None:
            ahead[behind] += 1
    return [
        _Standing(*counts)
        for counts in zip(faster, slower, ahead, kin, by_line, spoken_for, strict=True)
    ]


def _stand_ins(
    ordered: list[Entry], pairs: dict[tuple[int, int], Verdict]
) -> dict[int, tuple[int, ...]]:
    """By older entry: those of its line that stand for it, since nothing tells it from them."""
    found: dict[int, tuple[int, ...]] = {}
    for (i, j), verdict in pairs.items():
        if verdict.kind not in DECIDED and (newer := _newer_of_line(ordered, i, j)) is not None:
            older = i + j - newer
            found[older] = (*found.get(older, ()), newer)
    return found


def _beaten_by_line(
    pairs: dict[tuple[int, int], Verdict], stands_for: dict[int, tuple[int, ...]], i: int, j: int
) -> int | None:
    """Which of an undecided pair is behind by its line: the other beats all that stand for it.

    Never one whose own number is better by more than the margin.
    """
    verdict = pairs[i, j]
    if verdict.kind in DECIDED:
        return None
    for one, other, lead in ((i, j, verdict.lean), (j, i, -verdict.lean)):
        newest = stands_for.get(one, ())
        if newest and lead <= 0 and all(_beats(pairs, other, each) for each in newest):
            return one
    return None


def _beats(pairs: dict[tuple[int, int], Verdict], one: int, other: int) -> bool:
    if one < other:
        return pairs[one, other].kind is VerdictKind.FASTER
    return one > other and pairs[other, one].kind is VerdictKind.SLOWER


def _newer_of_line(ordered: list[Entry], i: int, j: int) -> int | None:
    """Which of two measured revisions or stacks of one line stands for it, if one does.

    The sounder does, of equally sound ones that of the newer batch.
    """
    a, b = ordered[i], ordered[j]
    if a.line.id != b.line.id:
        return None
    first, second = newest_batch(a), newest_batch(b)
    if first is None or second is None or first == second:
        return None
    return i if (a.soundness, first) > (b.soundness, second) else j


def _tie_groups(count: int, pairs: dict[tuple[int, int], Verdict]) -> dict[int, int]:
    """Neighbours in the list of which every pair is SAME, numbered from 1."""
    groups: dict[int, int] = {}
    start = 0
    while start < count:
        end = start + 1
        while end < count and all(_is_same(pairs, i, end) for i in range(start, end)):
            end += 1
        if end - start > 1:
            number = len(set(groups.values())) + 1
            groups.update(dict.fromkeys(range(start, end), number))
        start = end
    return groups


def _is_same(pairs: dict[tuple[int, int], Verdict], i: int, j: int) -> bool:
    verdict = pairs.get((i, j))
    return verdict is not None and verdict.kind is VerdictKind.SAME


def _place(
    index: int,
    ordered: list[Entry],
    standing: _Standing,
    tie_group: int | None,
    pairs: dict[tuple[int, int], Verdict],
    tolerance: Tolerance,
) -> Ranked:
    leader, entry = ordered[0], ordered[index]
    to_leader = None
    if index:
        known = pairs.get((0, index))
        to_leader = invert(known) if known else compare_in_cohort(entry, leader, tolerance)
    return Ranked(
        entry=entry,
        position=index + 1,
        low=1 + standing.ahead,
        high=len(ordered) - standing.rivals_behind,
        kin=standing.kin,
        tie_group=tie_group,
        ratio_to_leader=ratio_to(entry, leader),
        to_leader=to_leader,
    )


def ratio_to(entry: Entry, leader: Entry) -> float | None:
    """How many times worse ``entry`` is than ``leader``; ``None`` where a value is not positive.

    Of the runs that a verdict on the two is drawn from: where a batch measured both, that
    batch's, so that the ratio lies in the verdict's interval.
    """
    newest, *_ = paired_runs(entry, leader)
    own, first = map(value_of, newest)
    if own <= 0.0 or first <= 0.0:
        return None
    return first / own if entry.direction is Direction.HIGHER else own / first
