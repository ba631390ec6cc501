"""The answer in one or two sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kernelindex.catalog.rows import CohortRow, EntryRow
from kernelindex.resolve.matching import differences
from kernelindex.resolve.wording import cohort_summary, leader_words, listed

if TYPE_CHECKING:
    from kernelindex.resolve.findings import Findings
    from kernelindex.resolve.interpret import Meaning
    from kernelindex.resolve.settled import Settled

MAX_GROUPS = 3

Entries = Mapping[str, Sequence[EntryRow]]


def summarise(meaning: Meaning, findings: Findings, settled: Settled, entries: Entries) -> str:
    """What a hurried reader needs, without misleading them."""
    if settled.match == "none":
        return "Nothing measured here is near this question."
    if settled.match == "nearest":
        return _nearest(meaning, findings, entries)
    if len(findings.fits) == 1:
        row = findings.fits[0]
        return cohort_summary(row, entries.get(row.key, ()))
    return _several(findings, settled, entries)


def _several(findings: Findings, settled: Settled, entries: Entries) -> str:
    count = len(findings.fits)
    more = "" if findings.read_all else "more than "
    said = [_group(row, entries) for row in findings.fits[:MAX_GROUPS]]
    rest = f"; {count - MAX_GROUPS} more below" if count > MAX_GROUPS else ""
    lead = f"{more}{count} groups fit" if settled.match == "ambiguous" else f"{count} groups"
    return f"{lead[:1].upper()}{lead[1:]}, never ranked together. {'; '.join(said)}{rest}."


def _group(row: CohortRow, entries: Entries) -> str:
    found = entries.get(row.key, ())
    claim = leader_words(row, found) if found else "no entry counts"
    return f"{setting_words(row)}: {claim}"


def setting_words(row: CohortRow) -> str:
    """Device and pass in a few words: ``H100 SXM backward``."""
    label = str(row.device.get("label", ""))
    return label if row.timed_pass == "unstated" else f"{label} {row.timed_pass}"


def _nearest(meaning: Meaning, findings: Findings, entries: Entries) -> str:
    agreed = [pair for pair in findings.between if len(pair.rows) == 2]
    _, row = findings.near[0]
    found = differences(row, meaning)
    ways = listed([item.text for item in found])
    claim = _group(row, entries)
    sides = f" Measured on both sides of {agreed[0].bracket.axis}." if agreed else ""
    return f"Not measured as asked. Nearest ({ways}): {claim}.{sides}"
