"""A recorded batch judged on its own, by the very policy that will judge it in the index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernelindex.policy.cohorts import cohort_key
from kernelindex.policy.doubts import PassTimes
from kernelindex.policy.judging import JudgeContext, JudgedCohort, judge_cohort
from kernelindex.policy.reading import (
    ObservationFacts,
    read_environment,
    read_implementation,
    read_protocol,
    read_run,
    read_workload,
)
from kernelindex.policy.samples import Samples
from kernelindex.policy.verdicts import compare_in_cohort
from kernelindex.runner.recording.run import anchor_medians
from kernelindex.stats import median, round_medians

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.policy.facts import RunFacts
    from kernelindex.policy.verdicts import Verdict
    from kernelindex.runner.recording import Batch, RecordedRun, Series

SOURCE = "kernelindex-runner"
"""The source under which controlled runs are observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One cohort of a batch; ``runs`` has every recorded run of it by digest."""

    cohort: JudgedCohort
    runs: Mapping[str, RecordedRun]
    facts: Mapping[str, RunFacts]

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
        passes=pass_times(recorded, facts),
    )
    return tuple(_judge(group, facts, context) for group in groups.values())


def compare_in(one: Judged, first: str, second: str) -> Verdict | None:
    """One candidate against another of the same cohort; None where not both are ranked."""
    rows = {one.runs[row.run.digest].series.candidate.id: row for row in one.cohort.entries}
    if first not in rows or second not in rows:
        return None
    return compare_in_cohort(rows[first].entry, rows[second].entry, one.cohort.tolerance)


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
    return replace(facts, samples=samples_of(batch, one.series))


def samples_of(batch: Batch, series: Series) -> Samples | None:
    """The samples of a series as verdicts take them; ``None`` where there are none."""
    kept = [[rounds for rounds in generation if rounds] for generation in series.samples_ns]
    kept = [generation for generation in kept if generation]
    if not kept:
        return None
    calibration = batch.calibration
    anchor = calibration.get("anchor") or {}
    between = calibration.get("betweenBatch") or {}
    return Samples(
        batch=batch.id,
        runner=batch.plan.runner,
        rounds=round_medians(kept),
        samples_per_round=round(median([len(one) for rounds in kept for one in rounds])),
        floor=tuple((float(at), float(rel)) for at, rel in calibration.get("floor") or ()),
        tick_ns=float(calibration.get("tickNs") or 0.0),
        cycles=_cycles(series),
        anchor=anchor_medians(calibration, series.point.id) or None,
        anchor_id=anchor.get("id"),
        between_batch_sd=between.get("sd"),
        between_batch_degrees=int(between.get("degrees", 9)),
        seconds_per_generation=calibration.get("secondsPerGeneration"),
    )


def _cycles(series: Series) -> tuple[tuple[float, ...], ...] | None:
    """Round medians in SM cycles, where every round has its clock."""
    stated = series.found.get("cycles")
    if not stated or any(not rounds or not all(rounds) for rounds in stated):
        return None
    return round_medians(stated)


def _judge(
    group: Sequence[RecordedRun], facts: Mapping[str, RunFacts], context: JudgeContext
) -> Judged:
    own = {one.run.digest: facts[one.run.digest] for one in group}
    return Judged(
        cohort=judge_cohort(list(own.values()), context),
        runs={one.run.digest: one for one in group},
        facts=own,
    )


def pass_times(
    recorded: Iterable[RecordedRun], facts: Mapping[str, RunFacts]
) -> dict[str, PassTimes]:
    """Forward, backward and full of one candidate at one point in one regime, by run."""
    groups: dict[tuple[str, ...], dict[str, RecordedRun]] = {}
    for one in recorded:
        regime, series = one.series.regime, one.series
        key = (series.point.id, series.candidate.id, regime.cache, regime.load, regime.execution)
        groups.setdefault(key, {})[regime.timed_pass] = one
    found: dict[str, PassTimes] = {}
    for members in groups.values():
        values = {name: _value(facts[one.run.digest]) for name, one in members.items()}
        times = [values.get(name) for name in ("forward", "backward", "full")]
        if all(times):
            forward, backward, full = (value or 0.0 for value in times)
            passes = PassTimes(forward_ns=forward, backward_ns=backward, full_ns=full)
            found |= {one.run.digest: passes for one in members.values()}
    return found


def _value(facts: RunFacts) -> float | None:
    return facts.primary.value if facts.primary else None
