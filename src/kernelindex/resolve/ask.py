"""Questions to answers: read, find, compare with what was asked, say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.resolve.answer import Answer, Best, Cohort, Slot
from kernelindex.resolve.best import pick_best
from kernelindex.resolve.blocks import view_blocks
from kernelindex.resolve.exclusions import exclude, policy_checks
from kernelindex.resolve.fallen import count_excluded, excluded_of, view_all_excluded
from kernelindex.resolve.findings import Findings, find
from kernelindex.resolve.gaps import list_missing, suggest
from kernelindex.resolve.interpret import Meaning, interpret, view_reading
from kernelindex.resolve.nearest import view_near
from kernelindex.resolve.neighbours import view_neighbours
from kernelindex.resolve.query import parse_query
from kernelindex.resolve.request import Request, parse_request
from kernelindex.resolve.rerun_words import rerun_words, reruns_on_device
from kernelindex.resolve.reruns import find_reruns
from kernelindex.resolve.settled import settle
from kernelindex.resolve.summary import Entries, policy_words, summarise
from kernelindex.resolve.views import view_cohort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import CohortRow, ExcludedRow
    from kernelindex.resolve.problems import Problem
    from kernelindex.resolve.reads import Reads

MAX_COHORTS = 12
MAX_ENTRIES = 50
MAX_ENTRIES_OF_MANY = 5
MANY_COHORTS = 5
MAX_EXCLUDED = 50


def ask_text(catalog: Reads, text: str, *, entries: int = MAX_ENTRIES) -> Answer:
    """Answer a text question; one that cannot be read is answered with its problems."""
    return _ask_or_refuse(catalog, parse_query(text), entries)


def ask_document(catalog: Reads, document: Any, *, entries: int = MAX_ENTRIES) -> Answer:
    """Answer a structured question, given as parsed JSON."""
    return _ask_or_refuse(catalog, parse_request(document), entries)


def ask(catalog: Reads, request: Request, *, entries: int = MAX_ENTRIES) -> Answer:
    """Answer a question from what the catalog has ranked; nothing is ranked here.

    ``entries`` bounds the rows of each group. The number of reads does not grow with the
    answer.
    """
    meaning = interpret(catalog, request)
    if meaning.problems:
        return _refusal(meaning.problems, meaning)
    findings = find(catalog, meaning)
    shown = findings.fits[:MAX_COHORTS]
    limit = entries if len(shown) < MANY_COHORTS else min(entries, MAX_ENTRIES_OF_MANY)
    return _answer(catalog, meaning, findings, shown, limit)


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


def _answer(
    catalog: Reads,
    meaning: Meaning,
    findings: Findings,
    shown: Sequence[CohortRow],
    limit: int,
) -> Answer:
    checks = policy_checks(catalog, meaning.request)
    # A condition may be met far down a list, so the whole of it is read then.
    again = [one for row in shown for one in reruns_on_device(row, findings.controlled)]
    named = {row.key: row for row in (*findings.named(shown), *again)}.values()
    entries = _read_entries(catalog, list(named), None if checks else limit)
    findings = findings.in_reading_order(shown, entries)
    shown = findings.fits[: len(shown)]
    settled = settle(findings, meaning)
    by_policy = exclude(checks, {row.key: entries.get(row.key, ()) for row in shown})
    excluded = (*by_policy, *view_all_excluded(_excluded_runs(catalog, meaning, shown)))
    out = {item.run for item in excluded}
    best = pick_best(shown, entries, lambda entry: entry.run_digest not in out)
    return Answer(
        match=settled.match,
        summary=f"{policy_words(meaning, best, shown, by_policy)}"
        f"{summarise(meaning, findings, shown, settled, entries)}",
        request=meaning.request,
        reading=view_reading(meaning),
        assumptions=(*meaning.assumptions, *settled.assumptions),
        suggestions=suggest(catalog, meaning, findings, settled),
        cohorts=tuple(_view(row, findings, entries, limit) for row in shown),
        cohorts_left_out=len(findings.fits) - len(shown),
        blocks=() if meaning.request.timed_pass else view_blocks(findings, shown, entries),
        best=best,
        nearest=view_near(findings.near, entries, meaning, shown),
        reruns=find_reruns(catalog, findings.beside, shown),
        neighbours=view_neighbours(findings.between, entries),
        excluded=excluded[:MAX_EXCLUDED],
        excluded_counts=count_excluded(excluded),
        missing=list_missing(meaning, findings),
    )


def _view(row: CohortRow, findings: Findings, entries: Entries, limit: int) -> Cohort:
    found = entries.get(row.key, ())
    rerun = rerun_words(row, found, findings.controlled, entries)
    return view_cohort(row, found, limit=limit, rerun=rerun)


def _read_entries(catalog: Reads, rows: Sequence[CohortRow], limit: int | None) -> Entries:
    """The first entries of every cohort the answer names, and the stored bests."""
    best = {key for row in rows for slot in row.best.values() for key in slot["entries"][:3]}
    return catalog.entries([row.key for row in rows], first=limit, also=best)


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
