"""The sentences of an answer, made from stored ranks only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import Scale, ratio_text, scale_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.relative_reads import RelativeEntry
    from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow

FEW = 3
MAX_NAMED = 3
SINGLE_SAMPLE = "SINGLE_SAMPLE"
CONTROLLED_LEVELS = frozenset({"verified", "replicated"})


def at_least(count: str, read_all: bool, *, begins: bool = True) -> str:
    """A count, which is only a lower bound where not all was read; ``begins`` a sentence."""
    return count if read_all else f"{'At' if begins else 'at'} least {count}"


def listed(names: Sequence[str], last: str = "and", *, unnamed: int = 0) -> str:
    """``a``, ``a and b``, ``a, b and c``, and past three ``a, b, c and 4 more``.

    ``unnamed`` counts further ones whose names are not at hand.
    """
    shown = list(names[:MAX_NAMED])
    more = len(names) - len(shown) + unnamed
    if more:
        return f"{', '.join(shown)} {last} {more} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def line_name(entry: EntryRow | RelativeEntry) -> str:
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


def cohort_summary(row: CohortRow, entries: Sequence[EntryRow], rerun: str = "") -> str:
    """A cohort in two sentences: who leads by how much, and how far to trust it.

    ``rerun`` is what ``rerun_words`` knows of reruns in other cohorts.
    """
    if not entries:
        return "No entry counts here."
    claim = lead_words(row, entries)
    if _is_only(row):
        claim = f"Only{claim.removeprefix('only')}"
    return f"{claim}. {_trust(row, entries, rerun)}"


def lead_words(row: CohortRow, entries: Sequence[EntryRow]) -> str:
    """Who leads, with what, and by how much."""
    return leader_words(row, entries) + _behind(entries)


def leader_words(row: CohortRow, entries: Sequence[EntryRow]) -> str:
    """Who leads and with what: ``Liger leads (only 2 measured), 5.75 ms``."""
    scale = cohort_scale(entries)
    leader = entries[0]
    value = scale.with_unit(leader.value, half_width(leader))
    if _is_only(row):
        return f"only result: {line_name(leader)}, {value}"
    measured = _count(row.entry_count)
    if (leader.rank_low, leader.rank_high) == (1, 1):
        return f"{line_name(leader)} leads{measured}, {value}"
    first = unbeaten(entries)
    if not first:
        place = rank_span(leader.rank_low, leader.rank_high)
        return f"{line_name(leader)} ranks {place}{measured}, {value}"
    if len(first) == 1 and len(row.unbeaten) < 2:
        return f"{line_name(leader)} is unbeaten{measured}, but not surely first, {value}"
    if len({line_name(one) for one in first}) == 1 and len(first) == len(row.unbeaten):
        return f"{_together(row, first)} leads{measured}, {_span(scale, first)}"
    return f"{_together(row, first)} are not told apart{measured}, {_span(scale, first)}"


def entry_name(entry: EntryRow, others: Sequence[EntryRow]) -> str:
    """The line's name, with its revision where other entries are of the same line."""
    name = line_name(entry)
    shared = any(one is not entry and line_name(one) == name for one in others)
    return f"{name} {short_revision(entry.revision)}" if shared else name


def short_revision(revision: str) -> str:
    """A commit by its first ten digits, anything else as it is."""
    is_commit = len(revision) == 40 and set(revision) <= set("0123456789abcdef")
    return revision[:10] if is_commit else revision


def _is_only(row: CohortRow) -> bool:
    return row.only_result or row.entry_count == 1


def _together(row: CohortRow, first: Sequence[EntryRow]) -> str:
    """Names of unbeaten entries, those of one line said once."""
    counts: dict[str, int] = {}
    for entry in first:
        counts[line_name(entry)] = counts.get(line_name(entry), 0) + 1
    names = [f"{name} ({n} revisions)" if n > 1 else name for name, n in counts.items()]
    return listed(names, unnamed=max(0, len(row.unbeaten) - len(first)))


def _span(scale: Scale, first: Sequence[EntryRow]) -> str:
    """``9.07 to 9.23 ms``."""
    low, high = (scale.show(one.value, half_width(one)) for one in (first[0], first[-1]))
    shown = high if low == high else f"{low} to {high}"
    return f"{shown} {scale.unit}".rstrip()


def half_width(entry: EntryRow | RunRow) -> float | None:
    """Half of the 95 % interval, in the stored unit."""
    if not entry.interval:
        return None
    return abs(float(entry.interval["high"]) - float(entry.interval["low"])) / 2


def rank_span(low: int | None, high: int | None) -> str:
    """``2``, or ``1-3`` where it is not resolved."""
    return str(low) if low == high else f"{low}-{high}"


def _count(count: int) -> str:
    return f" (only {count} measured)" if count <= FEW else f" of {count} measured"


def _behind(entries: Sequence[EntryRow]) -> str:
    """The next entry that is surely behind, and the ratio; none where the leader is left out."""
    if entries[0].position != 1:
        return ""
    behind = next((entry for entry in entries if (entry.rank_low or 1) > 1), None)
    if behind is None or behind.ratio_to_leader is None:
        return ""
    ratio = behind.ratio_to_leader
    ahead = ratio if ratio >= 1 else 1 / ratio
    return f", {ratio_text(ahead)} ahead of {entry_name(behind, entries)}"


def _trust(row: CohortRow, entries: Sequence[EntryRow], rerun: str) -> str:
    levels = {entry.evidence for entry in entries}
    parts = [levels.pop().capitalize() if len(levels) == 1 else _levels(entries)]
    if SINGLE_SAMPLE in row.shared_doubts:
        parts.append("one sample" if row.entry_count == 1 else "one sample each")
    elif any(doubt["code"] == SINGLE_SAMPLE for doubt in entries[0].doubts):
        parts.append("the leader from one sample")
    return "; ".join(filter(None, [", ".join(parts), rerun])) + "."


def is_verified(row: CohortRow) -> bool:
    """Whether some entry of the cohort was verified."""
    return bool(row.best.get("verified", {}).get("entries"))


def _levels(entries: Sequence[EntryRow]) -> str:
    order = ("reported", "reproducible", "verified", "replicated")
    counts = [(level, sum(entry.evidence == level for entry in entries)) for level in order]
    return listed([f"{count} {level}" for level, count in counts if count])
