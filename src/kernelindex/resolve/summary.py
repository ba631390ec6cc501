"""The answer in one or two sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kernelindex.catalog.rows import CohortRow, EntryRow
from kernelindex.policy.facts import Profile
from kernelindex.resolve.exclusions import conditions_of, left_out_words
from kernelindex.resolve.matching import differences
from kernelindex.resolve.regime import differing_words
from kernelindex.resolve.rerun_words import rerun_words, reruns_on_device
from kernelindex.resolve.shapes import shape_words
from kernelindex.resolve.views import row_timing
from kernelindex.resolve.wording import (
    at_least,
    cohort_summary,
    is_verified,
    lead_words,
    line_name,
    listed,
)

if TYPE_CHECKING:
    from kernelindex.resolve.answer import Best
    from kernelindex.resolve.findings import Findings
    from kernelindex.resolve.interpret import Meaning
    from kernelindex.resolve.narrowing import Narrowed
    from kernelindex.resolve.settled import Settled

MAX_GROUPS = 4

Entries = Mapping[str, Sequence[EntryRow]]


def summarise(
    meaning: Meaning,
    findings: Findings,
    shown: Sequence[CohortRow],
    settled: Settled,
    entries: Entries,
) -> str:
    """What a hurried reader needs, without misleading them."""
    if settled.match == "none":
        asked = conditions_of(meaning.request)
        that = f" that meets {asked}" if asked else ""
        return f"Nothing measured here{that} is near this question."
    if settled.match == "nearest":
        return _nearest(meaning, findings, entries)
    if len(findings.fits) == 1:
        row = findings.fits[0]
        found = entries.get(row.key, ())
        rerun = rerun_words(row, found, findings.controlled, entries)
        return cohort_summary(row, found, rerun)
    return _several(findings, shown, entries)


def policy_words(meaning: Meaning, best: Best, left: Narrowed) -> str:
    """What meets the request's own conditions, what they leave out, and what ranks then mean."""
    findings, picks = left.findings, best.reported.picks
    asked = conditions_of(meaning.request)
    if not picks:
        said = f"No entry shown here meets {asked}"
    elif len(picks) <= MAX_GROUPS:
        rows = {row.key: row for row in findings.fits}
        picked = [rows[pick.cohort] for pick in picks]
        places = [
            f"{_setting(row, picked)}: {pick.text}" for row, pick in zip(picked, picks, strict=True)
        ]
        said = f"Best that meets {asked}: {'; '.join(places)}"
    else:
        fit = len(findings.fits) + len(findings.unmet)
        count = at_least(f"{fit} groups", findings.read_all, begins=False)
        said = f"{len(findings.fits)} of {count} have an entry that meets {asked}"
    ranks = "; ranks and ratios are as among all entries" if picks else ""
    return f"{said}. Left out: {left_out_words(meaning.request, left.left_out)}{ranks}."


def _several(findings: Findings, shown: Sequence[CohortRow], entries: Entries) -> str:
    """Few groups one by one; of many, what they are and who leads most of them."""
    fits = findings.fits
    if len(fits) <= MAX_GROUPS:
        said = "; ".join(_group(row, entries, fits) for row in fits)
        return f"{len(fits)} groups fit, never ranked together. {said}. {_trust(findings, entries)}"
    count = at_least(f"{len(fits)} groups", findings.read_all)
    said = f"{count} fit, never ranked together: {_spread(fits, findings.read_all)}."
    return f"{said}{_leads(shown, entries)}{_how_many_verified(fits, findings.read_all)}"


def _trust(findings: Findings, entries: Entries) -> str:
    """How far the groups together may be trusted."""
    fits = findings.fits
    levels = {entry.evidence for row in fits for entry in entries.get(row.key, ())}
    words = f"All {levels.pop()}" if len(levels) == 1 else "Evidence differs"
    if any(map(is_verified, fits)):
        return f"{words}."
    if any(row.profile == Profile.CONTROLLED for row in fits):
        return f"{words}; none verified."
    elsewhere = any(reruns_on_device(row, findings.controlled) for row in fits)
    return f"{words}; {'rerun in other groups' if elsewhere else 'none rerun'}."


def _spread(fits: Sequence[CohortRow], read_all: bool) -> str:
    """How many operations, shapes, devices and passes the groups are of."""
    operations = {row.operation for row in fits}
    labels = list(dict.fromkeys(str(row.device.get("label", "")) for row in fits))
    counts = [f"{len(operations)} operations"] if len(operations) > 1 else []
    counts.append(shape_words(fits))
    parts = [at_least(", ".join(counts), read_all, begins=False)]
    parts += [words] if (words := _passes(fits, read_all)) else []
    return f"{', '.join(parts)}, on {listed(labels)}"


def _passes(fits: Sequence[CohortRow], read_all: bool) -> str:
    """Which passes were timed, and how many groups do not say; nothing where none does."""
    passes = [row.timed_pass for row in fits]
    known = list(dict.fromkeys(name for name in passes if name != "unstated"))
    if not known:
        return ""
    said = f"{listed(known)} pass" if len(known) == 1 else f"passes {listed(known)}"
    silent = passes.count("unstated")
    states = "group states" if silent == 1 else "groups state"
    count = at_least(f"{silent} {states}", read_all, begins=False)
    return f"{said} ({count} none)" if silent else said


_NAMED = 3  # lines that lead as many groups as each other, named together


def _leads(shown: Sequence[CohortRow], entries: Entries) -> str:
    """The line that leads alone in most of the groups shown, or those that lead as many.

    Where none leads two of them, who leads those that are verified.
    """
    first, count, seen = _leaders(shown, entries)
    which = "shown"
    if count < 2 or len(first) > _NAMED:
        first, count, seen = _leaders([row for row in shown if is_verified(row)], entries)
        which = "verified ones shown"
    if not count or len(first) > _NAMED:
        return ""
    verb, each = ("lead", " each") if len(first) > 1 else ("leads", "")
    return f" {listed(first)} {verb} {count}{each} of the {seen} {which}."


def _leaders(rows: Iterable[CohortRow], entries: Entries) -> tuple[list[str], int, int]:
    """The lines that lead most groups alone, how many each leads, and of how many groups."""
    leads: Counter[str] = Counter()
    seen = [entries[row.key] for row in rows if entries.get(row.key)]
    for found in seen:
        if (found[0].rank_low, found[0].rank_high) == (1, 1):
            leads[line_name(found[0])] += 1
    count = max(leads.values(), default=0)
    return [name for name, led in leads.items() if led == count], count, len(seen)


def _how_many_verified(fits: Sequence[CohortRow], read_all: bool) -> str:
    verified = sum(map(is_verified, fits))
    of = f"{len(fits)}" if read_all else f"the {len(fits)} read"
    return f" {verified} of {of} verified." if verified else ""


def _group(row: CohortRow, entries: Entries, others: Sequence[CohortRow] = ()) -> str:
    found = entries.get(row.key, ())
    claim = lead_words(row, found) if found else "no entry counts"
    return f"{_setting(row, others)}: {claim}"


def _setting(row: CohortRow, others: Sequence[CohortRow]) -> str:
    """Device and pass, and how it was timed where another group has the same two."""
    label, timed = str(row.device.get("label", "")), row.timed_pass
    words = label if timed == "unstated" else f"{label} {timed}"
    rivals = [one for one in others if (one.device.get("label"), one.timed_pass) == (label, timed)]
    if row not in rivals:
        return words
    regime = differing_words(list(map(row_timing, rivals)))[rivals.index(row)]
    return f"{words} ({regime})" if regime else words


def _nearest(meaning: Meaning, findings: Findings, entries: Entries) -> str:
    agreed = [pair for pair in findings.between if len(pair.rows) == 2]
    _, row = findings.near[0]
    found = differences(row, meaning)
    ways = listed([item.text for item in found])
    claim = _group(row, entries)
    sides = f" Measured on both sides of {agreed[0].bracket.axis}." if agreed else ""
    return f"Not measured as asked. Nearest ({ways}): {claim}.{sides}"
