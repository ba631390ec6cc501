"""A verdict on two runs by their samples, wherever they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.errors import NotFoundError
from kernelindex.policy.eligibility import exclusions
from kernelindex.policy.entries import build_entry, entry_key
from kernelindex.policy.judging import JudgeContext
from kernelindex.policy.verdicts import Verdict, VerdictKind, compare
from kernelindex.resolve.lookup import locate

if TYPE_CHECKING:
    from kernelindex.policy.facts import RunFacts
    from kernelindex.resolve.reads import Reads


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOfRuns:
    """Two runs by what ran, and the verdict of the first against the second."""

    first: str
    second: str
    verdict: Verdict


def judge_runs(catalog: Reads, first: str, second: str) -> PairOfRuns:
    """Judge one run against another, by their samples where both have some.

    Raises NotFoundError and AmbiguousError as ``locate`` does, and ``run.not_derived``.
    """
    a, b = _facts(catalog, first), _facts(catalog, second)
    return PairOfRuns(first=a.line.title, second=b.line.title, verdict=judge_pair(a, b))


def judge_pair(a: RunFacts, b: RunFacts) -> Verdict:
    """The verdict of two runs; INCOMPARABLE where one does not rank, with its reasons."""
    context = JudgeContext()
    reasons = [reason.code for run in (a, b) for reason in exclusions(run, context.product_of(run))]
    if reasons:
        return Verdict(kind=VerdictKind.INCOMPARABLE, reasons=tuple(reasons))
    entries = [build_entry(entry_key(run), [run]) for run in (a, b)]
    return compare(entries[0], entries[1], context.tolerance_of(a))


def _facts(catalog: Reads, ident: str) -> RunFacts:
    digest = locate(catalog, "run", ident).digest
    found = catalog.facts([digest]).get(digest)
    if found is None:
        raise NotFoundError(
            f"run {digest} has no derived row; `ki catalog rebuild` makes it",
            code="run.not_derived",
        )
    return found
