"""One cohort judged as a whole: what the catalog stores and every surface shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.policy.deployability import UNKNOWN, Checklist, checklist
from kernelindex.policy.doubts import PassTimes, doubts_of, shared_codes
from kernelindex.policy.eligibility import Exclusion, exclusions
from kernelindex.policy.entries import Entry, build_entries, latest_stacks
from kernelindex.policy.levels import EvidenceFacts, LevelReport, level_of
from kernelindex.policy.limits import Limit, limit_of
from kernelindex.policy.margins import Tolerance, build_tolerance, source_dispersion
from kernelindex.policy.ranking import Ranked, Ranking, rank
from kernelindex.policy.records import RecordEvent, leader_history, only_corrected
from kernelindex.registry.hardware import Product, load_products
from kernelindex.registry.sources_info import find_source

if TYPE_CHECKING:
    from kernelindex.policy.facts import Doubt, RunFacts
    from kernelindex.policy.verdicts import Verdict

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContext:
    """What is known beside the runs; everything may be left empty.

    ``newest``           source slug -> calendar date of its newest snapshot
    ``implementations``  implementation digest -> ``spec`` of its manifest
    ``evidence``         run digest -> what was handed over and verified
    ``passes``           run digest -> forward, backward and full times of its siblings
    ``retracted_on``     run digest -> calendar date of its retraction
    ``products``         product id -> product; the registry where None
    ``dispersions``      source slug -> relative repeat dispersion; the registry where None
    """

    newest: Mapping[str, str] = field(default_factory=dict)
    implementations: Mapping[str, Spec] = field(default_factory=dict)
    evidence: Mapping[str, EvidenceFacts] = field(default_factory=dict)
    passes: Mapping[str, PassTimes] = field(default_factory=dict)
    retracted_on: Mapping[str, str] = field(default_factory=dict)
    products: Mapping[str, Product] | None = None
    dispersions: Mapping[str, float] | None = None

    def product_of(self, run: RunFacts) -> Product | None:
        """The GPU product of a run, where its name resolves to one."""
        products = load_products() if self.products is None else self.products
        return products.get(run.device.product_id or "")

    def tolerance_of(self, run: RunFacts) -> Tolerance:
        """The tolerance of a run's source on its device, in the unit of its primary value."""
        if self.dispersions is None:
            dispersion = source_dispersion(find_source(run.source))
        else:
            dispersion = self.dispersions.get(run.source)
        product = self.product_of(run)
        unit = run.primary.unit if run.primary else ""
        return build_tolerance(dispersion, tick_ns=product.tick_ns if product else None, unit=unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEntry:
    """One entry in its place with everything that is said of it.

    ``ranked`` has position, rank range, tie group, ratio and verdict to the leader;
    ``level`` is that of the run that stands for the entry, whose number is shown, and
    ``run_levels`` has those of runs that handed evidence over; ``doubts`` are the
    representative's and the entry's, ordered blocks, shifts, note.
    """

    ranked: Ranked
    level: LevelReport
    doubts: tuple[Doubt, ...]
    run_levels: Mapping[str, LevelReport]
    limit: Limit | None
    checklist: Checklist
    latest_stack: bool

    @property
    def entry(self) -> Entry:
        """The entry itself."""
        return self.ranked.entry

    @property
    def run(self) -> RunFacts:
        """The run that stands for the entry."""
        return self.ranked.entry.representative

    @property
    def to_leader(self) -> Verdict | None:
        """The verdict against the first of the list; ``None`` for the first."""
        return self.ranked.to_leader


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedRun:
    """A run that does not rank, with every reason."""

    run: RunFacts
    reasons: tuple[Exclusion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """Who is fastest among those that qualify, as entry keys in list order.

    One key: it leads alone, is the newest of the revisions that lead, or is the only one (then
    ``only_result``). Several: unbeaten together. None: nobody qualifies, and ``fills`` says
    what would change that.
    """

    keys: tuple[str, ...]
    only_result: bool
    fills: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCohort:
    """The judgement of one cohort; ``entries`` are in list order, best value first."""

    entries: tuple[JudgedEntry, ...]
    excluded: tuple[ExcludedRun, ...]
    only_result: bool
    unbeaten: tuple[str, ...]
    shared_doubts: tuple[str, ...]
    best_reported: Best
    best_verified: Best
    best_deployable: Best
    events: tuple[RecordEvent, ...]
    tolerance: Tolerance


def judge_cohort(runs: Sequence[RunFacts], context: JudgeContext) -> JudgedCohort:
    """Judge all runs of one cohort, given in any order, superseded and failed ones too.

    The caller groups by ``cohorts.cohort_key``; at least one run. Runs that do not rank
    come back in ``excluded``.
    """
    ordered = sorted({run.digest: run for run in runs}.values(), key=lambda run: run.digest)
    product = context.product_of(ordered[0])
    tolerance = context.tolerance_of(ordered[0])
    judged = [(run, exclusions(run, product)) for run in ordered]
    verified = _verified_runs(ordered, context)
    entries = build_entries((run for run, reasons in judged if not reasons), verified)
    ranking = rank(entries, tolerance)
    latest = latest_stacks(entries)
    rows = tuple(
        judge_entry(one, context, product, latest_stack=one.entry.key in latest)
        for one in ranking.ranked
    )
    counted = [run for run, reasons in judged if only_corrected(reasons)]
    excluded = (ExcludedRun(run=run, reasons=reasons) for run, reasons in judged if reasons)
    return JudgedCohort(
        entries=rows,
        excluded=tuple(excluded),
        only_result=ranking.only_result,
        unbeaten=ranking.unbeaten,
        shared_doubts=shared_codes([row.doubts for row in rows]),
        best_reported=_best_of(ranking, "no run of this cohort ranks"),
        best_verified=_best(_verified(rows), tolerance, VERIFIED_FILLS),
        best_deployable=_best(_deployable(rows), tolerance, _deployable_fills(rows)),
        events=leader_history(
            counted, tolerance, retracted_on=context.retracted_on, verified=verified
        ),
        tolerance=tolerance,
    )


VERIFIED_FILLS = "a controlled run signed by an approved runner"


def judge_entry(
    ranked: Ranked, context: JudgeContext, product: Product | None, *, latest_stack: bool
) -> JudgedEntry:
    """Everything that is said of one ranked entry."""
    entry, run = ranked.entry, ranked.entry.representative
    spec = context.implementations.get(run.implementation_digest)
    handed = context.evidence
    with_evidence = [one for one in entry.runs if one.digest in handed]
    return JudgedEntry(
        ranked=ranked,
        level=level_of(run, handed.get(run.digest)),
        run_levels={one.digest: level_of(one, handed[one.digest]) for one in with_evidence},
        doubts=doubts_of(
            run,
            product=product,
            newest=context.newest.get(run.source),
            passes=context.passes.get(run.digest),
            entry_runs=entry.runs,
            evidence=handed.get(run.digest),
        ),
        limit=limit_of(run, product),
        checklist=_checklist(spec, run),
        latest_stack=latest_stack,
    )


def _checklist(spec: Spec | None, run: RunFacts) -> Checklist:
    if spec is None:
        return UNKNOWN
    return checklist(
        spec,
        architecture=run.device.architecture,
        restated=run.line.restated,
        checked=run.correctness.asserted,
    )


def _best(rows: Sequence[JudgedEntry], tolerance: Tolerance, fills: str) -> Best:
    """Rank those that qualify among themselves."""
    return _best_of(rank([row.entry for row in rows], tolerance), fills)


def _best_of(ranking: Ranking, fills: str) -> Best:
    if not ranking.ranked:
        return Best(keys=(), only_result=False, fills=fills)
    if ranking.only_result:
        return Best(keys=(ranking.ranked[0].entry.key,), only_result=True, fills=None)
    return Best(keys=_foremost(ranking), only_result=False, fills=None)


def _foremost(ranking: Ranking) -> tuple[str, ...]:
    """The unbeaten; of several measured revisions of one line, and no other, the newest."""
    first = [one.entry for one in ranking.ranked if one.entry.key in ranking.unbeaten]
    one_line = len({entry.line.id for entry in first}) == 1
    measured = all(entry.representative.samples for entry in first)
    return ranking.unbeaten[:1] if one_line and measured else ranking.unbeaten


def _verified_runs(runs: Iterable[RunFacts], context: JudgeContext) -> frozenset[str]:
    """Digests of the verified ones; none is without evidence handed over."""
    return frozenset(
        run.digest
        for run in runs
        if run.digest in context.evidence and level_of(run, context.evidence[run.digest]).verified
    )


def _verified(rows: Sequence[JudgedEntry]) -> list[JudgedEntry]:
    return [row for row in rows if row.level.verified]


def _deployable(rows: Sequence[JudgedEntry]) -> list[JudgedEntry]:
    return [row for row in rows if row.checklist.deployable]


def _deployable_fills(rows: Sequence[JudgedEntry]) -> str:
    """What the fastest entry lacks, since that is the shortest way to fill the slot."""
    if not rows:
        return "a run of an implementation that can be installed"
    return f"for {rows[0].entry.line.title}: {'; '.join(rows[0].checklist.why_not)}"
