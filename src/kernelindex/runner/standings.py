"""A recorded batch judged on its own, by the very policy that will judge it in the index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernelindex.policy.cohorts import cohort_key
from kernelindex.policy.judging import JudgeContext, JudgedCohort, judge_cohort
from kernelindex.policy.reading import (
    ObservationFacts,
    read_environment,
    read_implementation,
    read_protocol,
    read_run,
    read_workload,
)
from kernelindex.policy.samples_reading import read_samples, read_series
from kernelindex.policy.siblings import sibling_passes
from kernelindex.policy.verdicts import compare_in_cohort

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kernelindex.policy.facts import RunFacts
    from kernelindex.policy.verdicts import Verdict
    from kernelindex.runner.recording import Batch, RecordedRun

SOURCE = "kernelindex-runner"
"""The source under which controlled runs are observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One cohort of a batch; ``runs`` has every recorded run of it by digest."""

    cohort: JudgedCohort
    runs: Mapping[str, RecordedRun]
    facts: Mapping[str, RunFacts]
    context: JudgeContext

    @property
    def first(self) -> RecordedRun:
        """Any of its runs: they share point, pass and regime."""
        return next(iter(self.runs.values()))


def judge_batch(batch: Batch, recorded: Sequence[RecordedRun]) -> tuple[Judged, ...]:
    """Every point, pass and regime of a batch as a judged cohort, in the order of the plan.

    Nothing of the index is asked: levels are those of the runs alone, before evidence.
    """
    facts = {one.run.digest: run_facts(batch, one) for one in recorded}
    groups: dict[str, list[RecordedRun]] = {}
    for one in recorded:
        groups.setdefault(cohort_key(facts[one.run.digest]), []).append(one)
    context = JudgeContext(
        implementations={
            one.implementation.digest: one.implementation.document["spec"] for one in recorded
        },
        passes=sibling_passes(facts.values()),
    )
    return tuple(_judge(group, facts, context) for group in groups.values())


def compare_in(one: Judged, first: str, second: str) -> Verdict | None:
    """One candidate against another of the same cohort; None where not both are ranked."""
    rows = {one.runs[row.run.digest].series.candidate.id: row for row in one.cohort.entries}
    if first not in rows or second not in rows:
        return None
    return compare_in_cohort(rows[first].entry, rows[second].entry, one.cohort.tolerance)


def judge_as_passed(one: Judged, digests: Collection[str]) -> JudgedCohort:
    """The cohort as if these runs had passed: those whose times are doubted, not their results.

    A pair is judged by generations that ran side by side, so what slows all of a batch's
    processes together widens an interval and settles nothing wrongly.
    """
    runs = [
        replace(facts, status="passed") if digest in digests else facts
        for digest, facts in one.facts.items()
    ]
    return judge_cohort(runs, one.context)


def run_facts(batch: Batch, one: RecordedRun) -> RunFacts:
    """What policy knows of a recorded run, its samples included."""
    facts = read_run(
        one.run,
        read_workload(one.workload, one.operation),
        read_protocol(one.protocol),
        read_environment(one.environment),
        read_implementation(one.implementation, source=SOURCE, project=one.project.name),
        ObservationFacts(source=SOURCE),
    )
    samples = read_samples(
        one.run.document["spec"], batch.calibration, read_series(one.series.found)
    )
    return replace(facts, samples=samples)


def _judge(
    group: Sequence[RecordedRun], facts: Mapping[str, RunFacts], context: JudgeContext
) -> Judged:
    own = {one.run.digest: facts[one.run.digest] for one in group}
    return Judged(
        cohort=judge_cohort(list(own.values()), context),
        runs={one.run.digest: one for one in group},
        facts=own,
        context=context,
    )
