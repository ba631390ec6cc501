"""The measured shapes on either side of an unmeasured one; no latency is invented."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelindex.catalog.rows import CohortRow, EntryRow
from kernelindex.policy.neighbours import Bracket, MeasuredShape, find_neighbours
from kernelindex.resolve.answer import Neighbour, NeighbourSide
from kernelindex.resolve.matching import differences
from kernelindex.resolve.wording import leader_words, unbeaten

if TYPE_CHECKING:
    from kernelindex.resolve.interpret import Meaning

MAX_NEIGHBOURS = 8

Entries = Mapping[str, Sequence[EntryRow]]


@dataclass(frozen=True, slots=True)
class Between:
    """One bracket of the question with the cohorts on its sides; shape keys are cohort keys."""

    bracket: Bracket
    rows: tuple[CohortRow, ...]


def find_between(rows: Iterable[CohortRow], meaning: Meaning) -> tuple[Between, ...]:
    """For each axis, device and pass: the nearest cohorts that differ in that axis alone."""
    groups: dict[tuple[Any, ...], list[CohortRow]] = defaultdict(list)
    for row in rows:
        found = differences(row, meaning)
        if found and all(item.field in meaning.axes for item in found):
            groups[_setting(row, meaning)].append(row)
    pairs = [pair for group in groups.values() for pair in _brackets(group, meaning)]
    pairs.sort(key=lambda pair: (-len(pair.rows), pair.bracket.axis))
    return tuple(pairs[:MAX_NEIGHBOURS])


def view_neighbours(
    pairs: Sequence[Between], entries: Entries, *, conditions: str = ""
) -> tuple[Neighbour, ...]:
    """Each pair with who leads on its sides and whether they agree.

    ``conditions`` are what the entries were chosen by.
    """
    nobody = f"nothing that meets {conditions}" if conditions else "no entry counts"
    return tuple(_view(pair, entries, nobody) for pair in pairs)


def _setting(row: CohortRow, meaning: Meaning) -> tuple[Any, ...]:
    """What must be equal for two cohorts to be sides of one question."""
    protocol = (row.protocol.get("name"), row.protocol.get("version"), row.source)
    unasked = tuple(
        (name, row.axes[name]) for name in sorted(row.axes.keys() - meaning.axes.keys())
    )
    dtypes = tuple(sorted(row.dtypes.items()))
    return (row.device.get("label"), row.timed_pass, row.metric, protocol, unasked, dtypes)


def _brackets(rows: Sequence[CohortRow], meaning: Meaning) -> list[Between]:
    by_key = {row.key: row for row in rows}
    asked = {**rows[0].axes, **meaning.axes}
    measured = [MeasuredShape(shape_key=row.key, axes=row.axes) for row in rows]
    found = []
    for bracket in find_neighbours(asked, measured):
        sides = [side for side in (bracket.below, bracket.above) if side is not None]
        found.append(Between(bracket, tuple(by_key[side.shape_key] for side in sides)))
    return found


def _view(pair: Between, entries: Entries, nobody: str) -> Neighbour:
    rows = {row.key: row for row in pair.rows}
    bracket = replace(
        pair.bracket,
        below=_with_leader(pair.bracket.below, entries),
        above=_with_leader(pair.bracket.above, entries),
    )
    below, above = (_side(side, bracket.axis, rows, entries, nobody) for side in _sides(bracket))
    return Neighbour(
        axis=bracket.axis,
        asked=bracket.wanted,
        hardware=str(pair.rows[0].device.get("label", "")),
        timed_pass=pair.rows[0].timed_pass,
        below=below,
        above=above,
        leaders_agree=bracket.agree,
        text=_text(bracket, _where(pair.rows[0]), below, above),
    )


def _sides(bracket: Bracket) -> tuple[MeasuredShape | None, MeasuredShape | None]:
    return bracket.below, bracket.above


def _with_leader(side: MeasuredShape | None, entries: Entries) -> MeasuredShape | None:
    if side is None:
        return None
    found = entries.get(side.shape_key, ())
    leaders = unbeaten(found) or [entry for entry in found[:1] if entry.rank_low is None]
    lines = tuple(str(entry.line.get("id", "")) for entry in leaders)
    return replace(side, leader=lines[0] if len(lines) == 1 else None, unbeaten=lines)


def _side(
    side: MeasuredShape | None,
    axis: str,
    rows: Mapping[str, CohortRow],
    entries: Entries,
    nobody: str,
) -> NeighbourSide | None:
    if side is None:
        return None
    row = rows[side.shape_key]
    found = entries.get(row.key, ())
    return NeighbourSide(
        value=row.axes[axis],
        cohort=row.key,
        leader=leader_words(row, found) if found else nobody,
        leaders=side.unbeaten,
    )


def _where(row: CohortRow) -> str:
    label = str(row.device.get("label", ""))
    return label if row.timed_pass == "unstated" else f"{label}, {row.timed_pass}"


def _text(
    bracket: Bracket, where: str, below: NeighbourSide | None, above: NeighbourSide | None
) -> str:
    sides = [f"at {side.value}: {side.leader}" for side in (below, above) if side]
    asked = f"{bracket.axis}={bracket.wanted} was not measured ({where})"
    said = f"{asked}; {'; '.join(sides)}."
    if not (below and above):
        return f"{said} Nothing was measured {'above' if below else 'below'} it."
    if bracket.agree is None:
        return f"{said} Whether they agree on the leader is not clear."
    return said + (" Both sides agree on the leader." if bracket.agree else " The leader changes.")
