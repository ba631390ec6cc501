"""Questions to answers: read, find, compare with what was asked, say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.resolve.answer import Answer, Best, Cohort, Slot
from kernelindex.resolve.best import pick_best
from kernelindex.resolve.blocks import view_blocks
from kernelindex.resolve.exclusions import conditions_of, policy_checks
from kernelindex.resolve.fallen import count_excluded, excluded_of, view_all_excluded
from kernelindex.resolve.findings import Findings, find
from kernelindex.resolve.gaps import list_missing, suggest
from kernelindex.resolve.interpret import Meaning, interpret, view_reading
from kernelindex.resolve.narrowing import Narrowed, narrow
from kernelindex.resolve.nearest import MAX_NEAREST, view_near
from kernelindex.resolve.neighbours import view_neighbours
from kernelindex.resolve.query import parse_query
from kernelindex.resolve.request import Request, parse_request
from kernelindex.resolve.rerun_words import rerun_words, reruns_on_device
from kernelindex.resolve.reruns import find_reruns
from kernelindex.resolve.settled import settle
from kernelindex.resolve.summary import policy_words, summarise
from kernelindex.resolve.views import view_cohort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import CohortRow, ExcludedRow
    from kernelindex.resolve.exclusions import Entries
    from kernelindex.resolve.problems import Problem
    from kernelindex.resolve.reads import Reads

MAX_COHORTS = 12
MAX_ENTRIES = 50
MAX_ENTRIES_OF_MANY = 5
MANY_COHORTS = 5
MAX_EXCLUDED = 50
MOST_NEAR_READ = 40
"""Near groups that are read where a question has conditions, which not all may meet."""


def ask_text(catalog: Reads, text: str, *, entries: int = MAX_ENTRIES) -> Answer:
    """Answer a text question; one that cannot be read is answered with its problems."""
    return _ask_or_refuse(catalog, parse_query(text), entries)


def ask_document(catalog: Reads, document: Any, *, entries: int = MAX_ENTRIES) -> Answer:
    """Answer a structured question, given as parsed JSON."""
    return _ask_or_refuse(catalog, parse_request(document), entries)


def ask(catalog: Reads, request: Request, *, entries: int = MAX_ENTRIES) -> Answer:
    """Answer a question from what the catalog has ranked; nothing is ranked here.

    ``entries`` bounds the rows of each group. The number of reads does not grow with the
    answer. Of a question with conditions on an entry only what meets them is in the lists.
    """
    meaning = interpret(catalog, request)
    if meaning.problems:
        return _refusal(meaning.problems, meaning)
    if not conditions_of(request):
        found = find(catalog, meaning)
        read = _read_shown(catalog, found, entries)
        return _answer(catalog, meaning, narrow((), found, read), entries)
    found = find(catalog, meaning, most_near=MOST_NEAR_READ)
    read = _read_all(catalog, found)
    checks = policy_checks(catalog, request, read)
    return _answer(catalog, meaning, narrow(checks, found, read), entries)


def _ask_or_refuse(catalog: Reads, read: Request | tuple[Problem, ...], entries: int) -> Answer:
    return ask(catalog, read, entries=entries) if isinstance(read, Request) else _refusal(read)


def _refusal(problems: tuple[Problem, ...], meaning: Meaning | None = None) -> Answer:
    empty = Slot(would_fill="a question that can be read")
    return Answer(
        match="none",
        summary=" ".join(problem.text for problem in problems),
        request=meaning.request if meaning else None,
        reading=view_reading(meaning) if meaning else None,
        assumptions=meaning.assumptions if meaning else (),
        suggestions=meaning.suggestions if meaning else (),
        problems=problems,
        best=Best(reported=empty, verified=empty, deployable=empty),
    )


def _answer(catalog: Reads, meaning: Meaning, left: Narrowed, rows: int) -> Answer:
    """``left`` is what a question's conditions leave of what the catalog has for it."""
    shown, entries = left.findings.fits[:MAX_COHORTS], left.entries
    findings = left.findings.in_reading_order(shown, entries)
    shown = findings.fits[: len(shown)]
    limit = _most_rows(len(shown), rows)
    # What fits is what was measured, also where nothing of it meets the conditions.
    measured = findings.with_unmet()
    settled = settle(measured, meaning)
    told = shown or measured.fits[:MAX_COHORTS]
    excluded = (
        *left.left_out,
        *view_all_excluded(_excluded_runs(catalog, meaning, told)),
    )
    out = {item.run for item in excluded}
    best = pick_best(told, left.read, lambda entry: entry.run_digest not in out)
    return Answer(
        match=settled.match,
        summary=policy_words(meaning, best, left)
        if left.left_out
        else summarise(meaning, findings, shown, settled, entries),
        request=meaning.request,
        reading=view_reading(meaning),
        assumptions=(*meaning.assumptions, *settled.assumptions),
        suggestions=suggest(catalog, meaning, measured, settled, left.left_out),
        cohorts=tuple(_view(row, findings, left, limit) for row in shown),
        cohorts_left_out=len(findings.fits) - len(shown),
        cohorts_not_met=len(findings.unmet),
        blocks=() if meaning.request.timed_pass else view_blocks(findings, shown, entries),
        best=best,
        nearest=view_near(findings.near[:MAX_NEAREST], entries, meaning, shown),
        reruns=find_reruns(catalog, findings.beside, shown, left.meets),
        neighbours=view_neighbours(
            findings.between, entries, conditions=conditions_of(meaning.request)
        ),
        excluded=excluded[:MAX_EXCLUDED],
        excluded_counts=count_excluded(excluded),
        missing=list_missing(meaning, measured),
    )


def _view(row: CohortRow, findings: Findings, left: Narrowed, limit: int) -> Cohort:
    """A group; of reruns nothing is said where some of its entries are not there."""
    entries, not_met = left.entries.get(row.key, ()), left.not_met(row.key)
    rerun = "" if not_met else rerun_words(row, entries, findings.controlled, left.read)
    return view_cohort(row, entries, limit=limit, rerun=rerun, not_met=not_met)


def _most_rows(groups: int, asked: int) -> int:
    """Rows of each group: fewer where the groups are many."""
    return asked if groups < MANY_COHORTS else min(asked, MAX_ENTRIES_OF_MANY)


def _read_shown(catalog: Reads, found: Findings, rows: int) -> Entries:
    """The first entries of every cohort that an answer without conditions names."""
    shown = found.fits[:MAX_COHORTS]
    again = [one for row in shown for one in reruns_on_device(row, found.controlled)]
    return _read_entries(catalog, (*found.named(shown), *again), _most_rows(len(shown), rows))


def _read_all(catalog: Reads, found: Findings) -> Entries:
    """Every entry: a condition may be met far down a list, or in the last group that fits."""
    return _read_entries(catalog, (*found.named(found.fits), *found.controlled), None)


def _read_entries(catalog: Reads, rows: Sequence[CohortRow], limit: int | None) -> Entries:
    """The first entries of cohorts, and the stored bests."""
    best = {key for row in rows for slot in row.best.values() for key in slot["entries"][:3]}
    keys = list(dict.fromkeys(row.key for row in rows))
    return catalog.entries(keys, first=limit, also=best)


def _excluded_of_operation(catalog: Reads, meaning: Meaning) -> Sequence[ExcludedRow]:
    """Where nothing fits: runs of the operation, in the asked pass, that do not count."""
    asked = meaning.request.timed_pass
    return [
        row
        for slug in meaning.operation.slugs[:1]
        for row in catalog.excluded((), operation=slug, limit=MAX_EXCLUDED)
        if asked in (None, row.timed_pass)
    ]


def _excluded_runs(
    catalog: Reads, meaning: Meaning, shown: Sequence[CohortRow]
) -> Sequence[ExcludedRow]:
    """Runs that do not rank for these shapes."""
    return excluded_of(catalog, shown) if shown else _excluded_of_operation(catalog, meaning)
