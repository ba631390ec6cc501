"""The sentences of an answer, made from stored ranks only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import Scale, ratio_text, scale_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow

FEW = 3
MAX_NAMED = 3
CONTROLLED_LEVELS = frozenset({"verified", "replicated"})


def listed(names: Sequence[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``, and past three ``a, b, c and 4 more``."""
    shown = list(names[:MAX_NAMED])
    if len(names) > MAX_NAMED:
        return f"{', '.join(shown)} {last} {len(names) - MAX_NAMED} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def line_name(entry: EntryRow) -> str:
    """What an entry is called in a sentence; a restated line is said to be a copy."""
    title = str(entry.line.get("title") or entry.implementation.get("title"))
    restates = entry.line.get("restates")
    return f"a copy of {restates}" if entry.line.get("restated") and restates else title


def cohort_scale(entries: Sequence[EntryRow]) -> Scale:
    """The one unit for all values of a cohort."""
    unit = entries[0].unit if entries else "ns"
    return scale_for([entry.value for entry in entries], unit)


def unbeaten(entries: Sequence[EntryRow]) -> tuple[EntryRow, ...]:
    """Entries whose range starts at 1: no other is surely better."""
    return tuple(entry for entry in entries if entry.rank_low == 1)


def cohort_summary(row: CohortRow, entries: Sequence[EntryRow]) -> str:
    """A cohort in two sentences: who leads by how much, and how far to trust it."""
    if not entries:
        return "No entry counts here."
    claim = leader_words(row, entries)
    second = _behind(entries)
    return f"{_capital(claim)}{second}. {_trust(row, entries)}"


def leader_words(row: CohortRow, entries: Sequence[EntryRow]) -> str:
    """Who leads and with what: ``Liger leads (only 2 measured), 5.75 ms``."""
    scale = cohort_scale(entries)
    first = unbeaten(entries)
    value = scale.with_unit(entries[0].value, half_width(entries[0]))
    if row.only_result or len(entries) == 1:
        return f"only result: {line_name(entries[0])}, {value}"
    if len(first) <= 1:
        return f"{line_name(entries[0])} leads{_count(row.entry_count)}, {value}"
    names = [line_name(entry) for entry in first]
    last = scale.with_unit(max(entry.value for entry in first))
    span = value if value == last else f"{value} to {last}"
    return f"{listed(names)} are not told apart{_count(row.entry_count)}, {span}"


def half_width(entry: EntryRow) -> float | None:
    """Half of the 95 % interval, in the stored unit."""
    if not entry.interval:
        return None
    return abs(float(entry.interval["high"]) - float(entry.interval["low"])) / 2


def _count(count: int) -> str:
    return f" (only {count} measured)" if count <= FEW else f" of {count} measured"


def _behind(entries: Sequence[EntryRow]) -> str:
    """The next entry that is surely behind, and the ratio."""
    behind = next((entry for entry in entries if (entry.rank_low or 1) > 1), None)
    if behind is None or behind.ratio_to_leader is None:
        return ""
    ratio = behind.ratio_to_leader
    ahead = ratio if ratio >= 1 else 1 / ratio
    return f", {ratio_text(ahead)} ahead of {line_name(behind)}"


def _trust(row: CohortRow, entries: Sequence[EntryRow]) -> str:
    levels = {entry.evidence for entry in entries}
    parts = [levels.pop().capitalize() if len(levels) == 1 else _levels(entries)]
    if all(_has(entry, "SINGLE_SAMPLE") for entry in entries):
        parts.append("one sample" if len(entries) == 1 else "one sample each")
    elif _has(entries[0], "SINGLE_SAMPLE"):
        parts.append("the leader from one sample")
    text = ", ".join(parts)
    if not any(entry.evidence in CONTROLLED_LEVELS for entry in entries):
        where = row.device.get("family") or row.device.get("label") or "this device"
        text += f"; not rerun on {where}"
    return text + "."


def _levels(entries: Sequence[EntryRow]) -> str:
    order = ("reported", "reproducible", "verified", "replicated")
    counts = [(level, sum(entry.evidence == level for entry in entries)) for level in order]
    return listed([f"{count} {level}" for level, count in counts if count])


def _has(entry: EntryRow, code: str) -> bool:
    return any(doubt["code"] == code for doubt in entry.doubts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
